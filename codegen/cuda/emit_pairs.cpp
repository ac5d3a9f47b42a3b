// Element-wise ops on 16-bit values, two in a register:
//
//   TW_EACH(i, 32) tw_unpair(q + i * 2, tw_sub_f16x2(tw_pair(x[i * 2], x[i * 2 + 1]),
//   0x64086408u));
//
// Tiles stay arrays of 16-bit elements. NVRTC sees that the halves of a word are put together again
// by the next op, the product that multiplies them, or the store, and keeps the words.
//
// Logic with constants is one instruction, however many ops it was written as: ((w >> s) & m) ^ b
// is closed under and, or, xor, not and right shifts. Such ops get no text of their own where only
// other pairs use them.
#include "codegen/cuda/emit_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/passes/fold.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

constexpr uint32_t kBothHalves = 0x10001;

bool is_half_word(const ir::Type& type) {
  return !type.is_pointer && type.element_bytes() == 2;
}

std::optional<uint32_t> constant_pair(const ir::Module& module, ValueId value) {
  const OpNode* def = module.def(value);
  const ir::Type& type = module.type(value);
  if (def == nullptr || def->op != Op::Const || !is_half_word(type)) return std::nullopt;
  uint64_t bits = passes::constant_bits(*def->attrs.find("value"), type);
  return static_cast<uint32_t>(bits) * kBothHalves;
}

// ---- logic with constants ----

std::string text_of(const PairWord& w) {
  std::string shifted = w.shift == 0 ? w.text : fmt::format("tw_shr_word({}, {})", w.text, w.shift);
  if (w.mask == ~0u && w.flip == 0) return shifted;
  if (w.flip == 0) return fmt::format("{} & {:#x}u", shifted, w.mask);
  if (w.mask == ~0u) return fmt::format("{} ^ {:#x}u", shifted, w.flip);
  return fmt::format("tw_and_xor({}, {:#x}u, {:#x}u)", shifted, w.mask, w.flip);
}

// The op's word from that of its first operand and the constant that its second one is; nullopt if
// the op is none of these.
std::optional<PairWord> composed(const ir::Module& module, const OpNode& op, PairWord w) {
  const ir::Type& type = module.type(op.results[0]);
  std::optional<uint32_t> constant;
  if (op.operands.size() == 2) {
    constant = constant_pair(module, op.operands[1]);
    if (!constant) return std::nullopt;
  }
  switch (op.op) {
    case Op::Bitcast:
      return w;
    case Op::Cast:
      if (is_int(type.dtype) && is_int(module.type(op.operands[0]).dtype)) return w;
      return std::nullopt;
    case Op::And:
      w.mask &= *constant;
      w.flip &= *constant;
      return w;
    case Op::Or:
      w.mask &= ~*constant;
      w.flip |= *constant;
      return w;
    case Op::Xor:
      w.flip ^= *constant;
      return w;
    case Op::Not:
      w.flip = ~w.flip;
      return w;
    case Op::Neg:
      if (!is_float(type.dtype)) return std::nullopt;
      w.flip ^= 0x80008000u;
      return w;
    case Op::Abs:
      if (!is_float(type.dtype)) return std::nullopt;
      w.mask &= 0x7fff7fffu;
      w.flip &= 0x7fff7fffu;
      return w;
    case Op::Shr: {
      uint32_t by = *constant & 0xffff;
      // An arithmetic shift would have to bring in two signs.
      if (is_signed(type.dtype) || by > 15) return std::nullopt;
      uint32_t inside = (0xffffu >> by) * kBothHalves;
      w.shift += static_cast<int>(by);
      w.mask = w.mask >> by & inside;
      w.flip = w.flip >> by & inside;
      return w;
    }
    default:
      return std::nullopt;
  }
}

bool is_composed(const ir::Module& module, const OpNode& op) {
  return is_half_word(module.type(op.results[0])) && is_half_word(module.type(op.operands[0])) &&
         composed(module, op, {}).has_value();
}

// ---- arithmetic ----

// How a pair is computed; no text if it is not.
struct Spelling {
  std::string text;          // with {0}, {1}, {2} for the pairs of the operands …
  bool of_elements = false;  // … or for the two elements of the only one
};

std::string of_floats(const Target& target, const OpNode& op, Dtype dtype) {
  bool nan = op.attrs.get_word("nan") == "propagate", has_min = target.sm >= 80;
  auto call = [&](std::string_view name) {
    return fmt::format("tw_{}_{}x2({{0}}, {{1}})", name, dtype_name(dtype));
  };
  switch (op.op) {
    case Op::Add:
      return call("add");
    case Op::Sub:
      return call("sub");
    case Op::Mul:
      return call("mul");
    case Op::Min:
      return has_min ? call(nan ? "min_nan" : "min") : "";
    case Op::Max:
      return has_min ? call(nan ? "max_nan" : "max") : "";
    case Op::Fma:  // from the exact product, where the contract rounds to f32 first
      return dtype == Dtype::kF16 && op.attrs.get_int("exact", 0) != 0
                 ? "tw_fma_f16x2({0}, {1}, {2})"
                 : "";
    default:
      return {};
  }
}

std::string of_integers(const ir::Module& module, const OpNode& op) {
  switch (op.op) {
    case Op::And:
      return "{0} & {1}";
    case Op::Or:
      return "{0} | {1}";
    case Op::Xor:
      return "{0} ^ {1}";
    case Op::Shl: {
      auto amount = constant_pair(module, op.operands[1]);
      if (!amount || (*amount & 0xffff) > 15) return {};
      return fmt::format("tw_shl_x2({{0}}, {})", *amount & 0xffff);
    }
    default:
      return {};
  }
}

Spelling spelling(const Target& target, const ir::Module& module, const OpNode& op) {
  const ir::Type &from = module.type(op.operands[0]), &to = module.type(op.results[0]);
  if (!is_half_word(to) || from.is_pointer) return {};
  if (op.op != Op::Cast)
    return {is_float(to.dtype) ? of_floats(target, op, to.dtype) : of_integers(module, op)};
  if (!is_float(to.dtype))
    return from.dtype == Dtype::kU8 ? Spelling{"tw_widen_bytes({0}, {1})", true} : Spelling{};
  if (from.dtype != Dtype::kF32 || op.attrs.get_word("rounding") == "rtz") return {};
  return {fmt::format("tw_pack_{}({{0}}, {{1}})", dtype_name(to.dtype)), true};
}

// ---- operands ----

// The elements 2i and 2i + 1 of a view.
std::pair<std::string, std::string> neighbours(const View& view) {
  if (!view.is_array) return {view.name, view.name};
  std::vector<uint32_t> pairs(view.columns.begin() + 1, view.columns.end());
  return {view.element(linear_expression({{"i", pairs}})),
          view.element(linear_expression({{"i", pairs}}, view.columns[0]))};
}

std::string pair_text(const View& view) {
  auto [low, high] = neighbours(view);
  return fmt::format("tw_pair({}, {})", low, high);
}

// An operand of a pair: a word that has no text yet, or a view.
struct Operand {
  std::optional<PairWord> word;
  View view = {};
  bool is_uniform() const { return !word && view.uniform; }
  // Putting a word together costs an instruction where the halves do not come from one.
  bool comes_in_pairs() const { return word || view.uniform || view.is_contiguous(2); }
  std::string pair() const { return word ? text_of(*word) : pair_text(view); }
};

std::vector<Operand> operands_of(Emitter& e, OpId id) {
  const OpNode& op = e.module.op(id);
  std::vector<Operand> operands;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Operand operand;
    if (auto found = e.pair_words.find(op.operands[i]); found != e.pair_words.end())
      operand.word = found->second;
    else
      operand.view = e.use(id, static_cast<int>(i));
    operands.push_back(std::move(operand));
  }
  return operands;
}

// Whether nothing but pairs of the same layout are computed from a value, in the same region.
bool only_in_pairs(Emitter& e, ValueId value) {
  const ir::Module& module = e.module;
  return std::ranges::all_of(e.users(value), [&](OpId id) {
    const OpNode& user = module.op(id);
    if (ir::op_info(user.op).family != ir::Family::kElementwise ||
        user.parent != module.op(module.value(value).def).parent ||
        e.layout_of(user.results[0]) != e.layout_of(value))
      return false;
    if (is_composed(module, user)) return true;
    Spelling spelled = spelling(e.target, module, user);
    // Of integers the other operand might not come in pairs.
    for (ValueId operand : user.operands)
      if (operand != value && !is_float(module.type(operand).dtype) &&
          !constant_pair(module, operand))
        return false;
    return !spelled.text.empty() && !spelled.of_elements;
  });
}

}  // namespace

bool emit_in_pairs(Emitter& e, OpId id) {
  const OpNode& op = e.module.op(id);
  ValueId result = op.results[0];
  const ir::Type& type = e.module.type(result);
  if (!type.is_tile() || e.layout_of(result).registers() < 2) return false;
  bool logic = is_composed(e.module, op);
  Spelling spelled = logic ? Spelling{} : spelling(e.target, e.module, op);
  if (!logic && spelled.text.empty()) return false;

  std::vector<Operand> operands = operands_of(e, id);
  if (std::ranges::all_of(operands, &Operand::is_uniform)) return false;
  // Floats save more than a word costs.
  if ((logic || !is_float(type.dtype)) && !spelled.of_elements &&
      !std::ranges::all_of(operands, &Operand::comes_in_pairs))
    return false;
  std::string text;
  if (logic) {
    PairWord first = operands[0].word.value_or(PairWord{.text = operands[0].pair()});
    PairWord word = *composed(e.module, op, std::move(first));
    bool is_free = op.op == Op::Bitcast || op.op == Op::Cast || e.users(result).size() == 1;
    if (is_free && only_in_pairs(e, result)) {
      e.pair_words[result] = std::move(word);
      return true;
    }
    text = text_of(word);
  } else if (spelled.of_elements) {
    auto [low, high] = neighbours(operands[0].view);
    text = fmt::format(fmt::runtime(spelled.text), low, high);
  } else {
    bool infix = spelled.text[0] == '{';
    auto pair = [&](const Operand& o) { return infix && o.word ? paren(o.pair()) : o.pair(); };
    std::vector<std::string> pairs;
    for (const Operand& operand : operands) pairs.push_back(pair(operand));
    pairs.resize(3);
    text = fmt::format(fmt::runtime(spelled.text), pairs[0], pairs[1], pairs[2]);
  }
  View plain = e.declare(type, e.layout_of(result), e.name_for(result));
  int pairs = plain.registers() / 2;
  e.out.line(fmt::format("TW_EACH(i, {}) tw_unpair({} + i * 2, {});", pairs, plain.name, text));
  e.define(result, std::move(plain));
  return true;
}

}  // namespace tilewright::cuda
