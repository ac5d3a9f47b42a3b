// Element-wise ops: one expression for each register, by a table of spellings.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emit_pairs.h"
#include "codegen/cuda/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpNode;

// How an op is written for integers and for floats; {0}, {1}, {2} are the operands. Integer
// operators that could overflow or trap are prelude functions, which wrap and guard.
struct Spelling {
  Op op;
  std::string_view integer, real;
};
constexpr Spelling kSpellings[] = {
    {Op::Add, "tw_add({0}, {1})", "{0} + {1}"},
    {Op::Sub, "tw_sub({0}, {1})", "{0} - {1}"},
    {Op::Mul, "tw_mul({0}, {1})", "{0} * {1}"},
    {Op::Div, "tw_div({0}, {1})", "tw_div({0}, {1})"},
    {Op::DivRn, "tw_div({0}, {1})", "tw_div_rn({0}, {1})"},
    {Op::Rem, "tw_rem({0}, {1})", "tw_rem({0}, {1})"},
    {Op::And, "{0} & {1}", ""},
    {Op::Or, "{0} | {1}", ""},
    {Op::Xor, "{0} ^ {1}", ""},
    {Op::Shl, "tw_shl({0}, {1})", ""},
    {Op::Shr, "tw_shr({0}, {1})", ""},
    {Op::Min, "tw_min({0}, {1})", "tw_min({0}, {1})"},
    {Op::Max, "tw_max({0}, {1})", "tw_max({0}, {1})"},
    {Op::MulHi, "tw_mulhi({0}, {1})", ""},
    {Op::Fma, "", "tw_fma({0}, {1}, {2})"},
    {Op::Select, "{0} ? {1} : {2}", "{0} ? {1} : {2}"},
    {Op::Neg, "tw_neg({0})", "tw_neg({0})"},
    {Op::Not, "tw_not({0})", ""},
    {Op::Abs, "tw_abs({0})", "tw_abs({0})"},
    {Op::Exp, "", "tw_exp({0})"},
    {Op::Exp2, "", "tw_exp2({0})"},
    {Op::Log, "", "tw_log({0})"},
    {Op::Log2, "", "tw_log2({0})"},
    {Op::Sin, "", "tw_sin({0})"},
    {Op::Cos, "", "tw_cos({0})"},
    {Op::Tanh, "", "tw_tanh({0})"},
    {Op::Sqrt, "", "tw_sqrt({0})"},
    {Op::SqrtRn, "", "tw_sqrt_rn({0})"},
    {Op::Rsqrt, "", "tw_rsqrt({0})"},
    {Op::Erf, "", "tw_erf({0})"},
    {Op::Floor, "", "tw_floor({0})"},
    {Op::Ceil, "", "tw_ceil({0})"},
};

std::string_view comparison(std::string_view predicate) {
  constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}};
  for (auto [word, text] : kOperators)
    if (word == predicate) return text;
  TW_UNREACHABLE("unknown predicate");
}

std::string cast_pattern(const OpNode& op, const ir::Type& from, const ir::Type& to) {
  if (to.is_pointer) return from.is_pointer ? "{0}" : "(u64){0}";
  bool rtz = op.attrs.get_word("rounding") == "rtz";
  return fmt::format("tw_cast{}<{}>({{0}})", rtz ? "_rtz" : "", type_name(to));
}

// Both halves of a 32-bit product, as in Philox, are one wide multiplication if both are written
// the same way: NVRTC merges equal expressions, but not a lower and an upper half. Empty for
// others.
std::string half_of_product(const ir::Module& module, const OpNode& op) {
  if (op.op != Op::Mul && op.op != Op::MulHi) return {};
  const ir::Type& type = module.type(op.results[0]);
  if (type.is_pointer || type.dtype != Dtype::kU32) return {};
  Op half = op.op == Op::Mul ? Op::MulHi : Op::Mul;
  auto ordered = [](const std::vector<ir::ValueId>& pair) {
    return std::minmax(pair[0].index, pair[1].index);
  };
  for (ir::OpId id : module.region(op.parent).ops) {
    const OpNode& other = module.op(id);
    if (other.op != half || ordered(other.operands) != ordered(op.operands)) continue;
    bool swapped = op.operands[1].index < op.operands[0].index;
    return fmt::format("(u32){}tw_mul_wide({}){}", op.op == Op::MulHi ? "(" : "",
                       swapped ? "{1}, {0}" : "{0}, {1}", op.op == Op::MulHi ? " >> 32)" : "");
  }
  return {};
}

// The pattern of an op, with {n} for its operands.
std::string pattern(const ir::Module& module, const OpNode& op) {
  const ir::Type& result = module.type(op.results[0]);
  const ir::Type& first = module.type(op.operands[0]);
  if (op.op == Op::Cmp) return fmt::format("{{0}} {} {{1}}", comparison(op.attrs.get_word("pred")));
  if (op.op == Op::Cast) return cast_pattern(op, first, result);
  if (op.op == Op::Bitcast) return fmt::format("tw_bitcast<{}>({{0}})", type_name(result));
  if (std::string half = half_of_product(module, op); !half.empty()) return half;
  bool real = !result.is_pointer && is_float(result.dtype);
  bool nan = real && op.attrs.get_word("nan") == "propagate";
  if (nan && op.op == Op::Min) return "tw_min_nan({0}, {1})";
  if (nan && op.op == Op::Max) return "tw_max_nan({0}, {1})";
  for (const Spelling& spelling : kSpellings) {
    if (spelling.op != op.op) continue;
    std::string_view text = real ? spelling.real : spelling.integer;
    TW_CHECK(!text.empty(), "no spelling of this op for " + ir::to_string(result));
    return std::string(text);
  }
  TW_UNREACHABLE("an element-wise op has no spelling: " + std::string(ir::op_info(op.op).mnemonic));
}

std::string operand_text(const View& view, const std::string& variable) {
  return view.type.is_pointer ? paren(view.value(variable)) : view.at(variable);
}

// base + offset in bytes, as text.
std::string moved(const std::string& base, const std::string& offset, int bytes) {
  std::string scaled = bytes == 1 ? "(i64)" + offset : fmt::format("(i64){} * {}", offset, bytes);
  return base.empty() ? "(u64)(" + scaled + ")" : base + " + " + scaled;
}

void emit_ptr_add(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  ir::ValueId result = op.results[0];
  View ptr = e.use(id, 0), offset = e.use(id, 1);
  int bytes = dtype_bytes(ptr.type.dtype);
  View view{.type = e.module.type(result), .layout = e.layout_of(result)};
  if (offset.uniform) {
    // The base moves; the offsets of the elements stay.
    const std::string& base = ptr.uniform ? ptr.name : ptr.base;
    std::string name = e.name_for(result);
    e.out.line(fmt::format("const u64 {} = {};", name, moved(base, offset.name, bytes)));
    View shifted = ptr;
    shifted.type = view.type;
    shifted.layout = view.layout;
    (ptr.uniform ? shifted.name : shifted.base) = name;
    return e.define(result, std::move(shifted));
  }
  if (ptr.uniform) {
    view.name = offset.name;
    view.is_array = offset.is_array;
    view.columns = offset.columns;
    view.base = ptr.name;
    view.offset_dtype = offset.type.dtype;
    view.scale = bytes;
    return e.define(result, std::move(view));
  }
  // A second and third offset stay apart: what they cost is an addition at the access, where
  // vectors need one in eight, and what does not change in a loop is added before it.
  constexpr size_t kOffsets = 3;
  if (!ptr.base.empty() && ptr.scale == bytes && ptr.index_tables() < kOffsets) {
    ptr.type = view.type;
    ptr.layout = view.layout;
    ptr.more.push_back(offset);
    return e.define(result, std::move(ptr));
  }
  e.define_each(result, false,
                [&](const std::string& i) { return moved(ptr.value(i), offset.at(i), bytes); });
}

// Leading bits of register numbers that a view does not depend on.
int ignored_bits(const View& view, int most) {
  if (view.uniform || !view.is_array) return most;
  int bits = 0;
  while (bits < most && view.columns[static_cast<size_t>(bits)] == 0) ++bits;
  return bits;
}

// Masks are equal along whole vectors, and so is what follows from them alone: computed once a
// group of equal registers. False if every register is on its own.
bool emit_repeated(Emitter& e, ir::OpId id, const std::vector<View>& operands,
                   const std::string& text) {
  ir::ValueId result = e.module.op(id).results[0];
  const layout::LinearLayout& layout = e.layout_of(result);
  int all = static_cast<int>(layout.reg.size()), bits = all;
  for (const View& operand : operands) bits = std::min(bits, ignored_bits(operand, all));
  if (e.module.op(id).op == Op::Cmp) bits = std::max(bits, e.repeated_bits(result));
  if (bits == 0) return false;
  uint32_t count = 1u << (all - bits);
  View view{.type = e.module.type(result), .layout = layout, .name = e.name_for(result)};
  view.is_array = count > 1;
  for (int b = 0; b < all; ++b) view.columns.push_back(b < bits ? 0 : 1u << (b - bits));
  e.out.line(fmt::format("{} {}{};", type_name(view.type), view.name,
                         count > 1 ? fmt::format("[{}]", count) : ""));
  std::vector<uint32_t> groups, firsts;
  for (uint32_t g = 0; g < count; ++g) {
    groups.push_back(g);
    firsts.push_back(g << bits);
  }
  std::vector<std::vector<uint32_t>> tables = {groups};
  for (const View& operand : operands) tables.push_back(operand.indices(firsts));
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::vector<std::string> texts;
    for (size_t k = 0; k < operands.size(); ++k) texts.push_back(operands[k].element(i[k + 1]));
    texts.resize(3);
    return fmt::format("{} = {};", view.element(i[0]),
                       fmt::format(fmt::runtime(text), texts[0], texts[1], texts[2]));
  });
  e.define(result, std::move(view));
  return true;
}

bool has_pointers(const Emitter& e, const OpNode& op) {
  bool found = e.module.type(op.results[0]).is_pointer;
  for (ir::ValueId operand : op.operands) found |= e.module.type(operand).is_pointer;
  return found;
}

}  // namespace

void emit_elementwise(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  if (op.op == Op::PtrAdd) return emit_ptr_add(e, id);
  if (emit_in_pairs(e, id)) return;
  const ir::Type& result = e.module.type(op.results[0]);
  std::vector<View> operands;
  bool uniform = true;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    operands.push_back(e.use(id, static_cast<int>(i)));
    uniform = uniform && operands.back().uniform;
  }
  if (op.op == Op::Cast && result.is_pointer && operands[0].type.is_pointer) {
    View same = operands[0];
    same.type = result;
    return e.define(op.results[0], std::move(same));
  }
  std::string text = pattern(e.module, op);
  if (!uniform && !has_pointers(e, op) && emit_repeated(e, id, operands, text)) return;
  operands.resize(3);
  e.define_each(op.results[0], uniform, [&](const std::string& i) {
    return fmt::format(fmt::runtime(text), operand_text(operands[0], i),
                       operand_text(operands[1], i), operand_text(operands[2], i));
  });
}

}  // namespace tilewright::cuda
