// Reductions: within a thread's registers (a tree), then across lanes (butterfly shuffles, or one
// instruction for a warp's 32-bit integers), then across warps (shared memory). The combine region
// becomes one lambda; several operands fold together.
//
//   auto fold = [&](f32& a, f32 b) TW_INLINE { … a = …; };
//   TW_EACH(i, 4) fold(m[i], m[i + 4]);                          // registers
//   fold(m, tw_shfl_xor(m, 1u));                                 // lanes
//   { f32 p[4]; tw_shared_load<4>(p, at); m = p[0]; TW_EACH(j, 3) fold(m, p[j + 1]); }   // warps
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/emit_combine.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using ir::ValueId;

// Reductions take turns between two places up to here.
constexpr int64_t kAlternate = 16384;

struct Reduction {
  Emitter& e;
  ir::OpId id;
  const OpNode& op;
  int axis;
  layout::LinearLayout source, result;
  layout::ReductionPlan plan;
  std::string fold;               // name of the lambda
  std::vector<std::string> part;  // array (or scalar, when size is 1) of each operand
  uint32_t keep = 1, size = 1;    // registers of the result; of the arrays

  size_t arity() const { return op.operands.size(); }
  const ir::Type& type(size_t k) const { return e.module.type(op.operands[k]); }
  std::string partial(size_t k, const std::string& index) const {
    return size > 1 ? part[k] + "[" + index + "]" : part[k];
  }
  // "fold(a, b, …)" with lhs and rhs texts by operand.
  template <class Lhs, class Rhs>
  std::string call(Lhs lhs, Rhs rhs) const {
    std::string text = fold + "(";
    for (size_t k = 0; k < arity(); ++k) text += (k > 0 ? ", " : "") + lhs(k);
    for (size_t k = 0; k < arity(); ++k) text += ", " + rhs(k);
    return text + ");";
  }
};

// Copies the operands into arrays where entry k + keep * f is the f-th element to fold into result
// register k, and folds the upper half onto the lower until `keep` are left.
void fold_registers(Reduction& r) {
  Emitter& e = r.e;
  r.keep = static_cast<uint32_t>(r.plan.registers.size());
  r.size = r.keep * static_cast<uint32_t>(r.plan.registers[0].size());
  std::vector<uint32_t> to, from;
  for (uint32_t f = 0; f < r.size / r.keep; ++f)
    for (uint32_t k = 0; k < r.keep; ++k) {
      to.push_back(k + r.keep * f);
      from.push_back(static_cast<uint32_t>(r.plan.registers[k][f]));
    }
  for (size_t k = 0; k < r.arity(); ++k) {
    View x = e.use(r.id, static_cast<int>(k));
    r.part.push_back(e.name_for(r.op.results[k]));
    std::string declared = r.size > 1 ? fmt::format("{}[{}]", r.part[k], r.size) : r.part[k];
    e.out.line(fmt::format("{} {};", type_name(x.type), declared));
    e.each({to, x.indices(from)}, [&](const std::vector<std::string>& i) {
      return fmt::format("{} = {};", r.partial(k, i[0]), x.element(i[1]));
    });
  }
  for (uint32_t half = r.size / 2; half >= r.keep && half > 0; half /= 2) {
    bool one = half == 1;
    std::string text =
        r.call([&](size_t k) { return r.partial(k, one ? "0" : "i"); },
               [&](size_t k) { return r.partial(k, one ? "1" : fmt::format("i + {}", half)); });
    e.out.line(one ? text : fmt::format("TW_EACH(i, {}) {}", half, text));
  }
}

std::string each_kept(const Reduction& r, const std::string& text) {
  return r.keep > 1 ? fmt::format("TW_EACH(i, {}) {}", r.keep, text) : text;
}

// The name of the op if the region is this one op, and the machine combines a whole warp by it.
std::string_view warp_op(const Reduction& r) {
  const ir::Type& type = r.type(0);
  if (r.e.target.sm < 80 || r.arity() != 1 || r.plan.lane_bits.size() != layout::kLaneBits ||
      type.is_pointer || !is_int(type.dtype) || dtype_bits(type.dtype) != 32)
    return {};
  const ir::Region& region = r.e.module.region(r.op.regions[0]);
  const OpNode& op = r.e.module.op(region.ops[0]);
  if (region.ops.size() != 2 || r.e.module.op(region.ops[1]).operands[0] != op.results[0])
    return {};
  if (op.operands.size() != 2 || op.operands[0] == op.operands[1]) return {};
  for (ValueId operand : op.operands)
    if (std::ranges::count(region.args, operand) == 0) return {};
  switch (op.op) {
    case ir::Op::Add:
    case ir::Op::Min:
    case ir::Op::Max:
    case ir::Op::And:
    case ir::Op::Or:
    case ir::Op::Xor:
      return ir::op_info(op.op).mnemonic;
    default:
      return {};
  }
}

void fold_lanes(Reduction& r) {
  std::string index = r.keep > 1 ? "i" : "0";
  if (std::string_view op = warp_op(r); !op.empty()) {
    std::string x = r.partial(0, index);
    return r.e.out.line(each_kept(r, fmt::format("{} = tw_redux_{}({});", x, op, x)));
  }
  for (int bit : r.plan.lane_bits)
    r.e.out.line(each_kept(r, r.call([&](size_t k) { return r.partial(k, index); },
                                     [&](size_t k) {
                                       return fmt::format("tw_shfl_xor({}, {})",
                                                          r.partial(k, index), 1 << bit);
                                     })));
}

// Where a thread's partial results lie in the scratch of one operand: element * ways + which warp.
struct Scratch {
  std::string write, read;  // the thread's part of the byte address
  std::vector<uint32_t> offsets;
  uint32_t start = 0;
  std::string turn = {};  // a variable to add
};

Scratch scratch_of(Reduction& r, size_t operand, uint32_t start, const std::string& turn) {
  uint32_t ways = 1u << r.plan.warp_bits.size();
  auto bytes = static_cast<uint32_t>(r.type(operand).element_bytes());
  std::vector<uint32_t> lane = r.result.lane, warp = r.result.warp;
  for (uint32_t& column : lane) column *= ways * bytes;
  for (uint32_t& column : warp) column *= ways * bytes;
  Scratch scratch;
  scratch.start = start;
  scratch.turn = turn;
  scratch.read = r.e.thread_map(lane, warp);
  for (size_t p = 0; p < r.plan.warp_bits.size(); ++p)
    warp[static_cast<size_t>(r.plan.warp_bits[p])] |= (1u << p) * bytes;
  scratch.write = r.e.thread_map(lane, warp);
  for (uint32_t k = 0; k < r.keep; ++k)
    scratch.offsets.push_back(r.result.element(k, 0, 0) * ways * bytes);
  return scratch;
}

std::string place(const Scratch& scratch, const std::string& thread, const std::string& offset,
                  int64_t more = 0) {
  std::string text = thread;
  int64_t start = scratch.start + more;
  // Offsets of a register may share bits with those of threads.
  if (offset != "0") text = text.empty() ? offset : "(" + text + " ^ " + paren(offset) + ")";
  if (!scratch.turn.empty()) text = text.empty() ? scratch.turn : scratch.turn + " + " + text;
  if (start != 0) text = text.empty() ? std::to_string(start) : fmt::format("{} + {}", text, start);
  return text.empty() ? "0" : text;
}

void store_partials(Reduction& r, const std::vector<Scratch>& scratch) {
  Emitter& e = r.e;
  layout::ReplicationMask copies = layout::replication_mask(r.result);
  uint32_t warps = copies.warp;
  for (int bit : r.plan.warp_bits) warps &= ~(1u << bit);
  std::string holds = e.none_of(copies.lane, warps);
  std::string guard = holds.empty() ? "" : fmt::format("if ({}) ", holds);
  std::vector<uint32_t> own;
  for (uint32_t k = 0; k < r.keep; ++k) own.push_back(k);
  for (size_t k = 0; k < r.arity(); ++k)
    e.each({own, scratch[k].offsets}, [&](const std::vector<std::string>& i) {
      std::string value =
          r.size > 1 ? (i[0] == "0" ? r.part[k] : r.part[k] + " + " + i[0]) : "&" + r.part[k];
      return fmt::format("{}tw_shared_store<1>({}, {});", guard,
                         place(scratch[k], scratch[k].write, i[1]), value);
    });
}

void load_and_fold_partials(Reduction& r, const std::vector<Scratch>& scratch) {
  Emitter& e = r.e;
  int ways = 1 << r.plan.warp_bits.size();
  std::vector<std::vector<uint32_t>> tables(1);
  for (uint32_t k = 0; k < r.keep; ++k) tables[0].push_back(k);
  for (const Scratch& s : scratch) tables.push_back(s.offsets);
  std::vector<std::string> names;
  for (size_t k = 0; k < r.arity(); ++k) names.push_back(e.fresh("part"));
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string text = "{ ";
    for (size_t k = 0; k < r.arity(); ++k) {
      int bytes = r.type(k).element_bytes(), vector = std::min(ways, 16 / bytes);
      text += fmt::format("{} {}[{}]; ", type_name(r.type(k)), names[k], ways);
      for (int w = 0; w < ways; w += vector)
        text += fmt::format("tw_shared_load<{}>({}, {}); ", vector,
                            w == 0 ? names[k] : fmt::format("{} + {}", names[k], w),
                            place(scratch[k], scratch[k].read, i[k + 1], w * bytes));
      text += fmt::format("{} = {}[0]; ", r.partial(k, i[0]), names[k]);
    }
    std::string call =
        r.call([&](size_t k) { return r.partial(k, i[0]); },
               [&](size_t k) { return fmt::format("{}[{}]", names[k], ways > 2 ? "j + 1" : "1"); });
    std::string rest = ways > 2 ? fmt::format("TW_EACH(j, {}) ", ways - 1) : "";
    return text + rest + call + " }";
  });
}

// Where `bytes` of partial results go. Behind, or before, those of the reduction before this one no
// barrier is needed: the barrier of that one has ended all earlier reads.
int64_t place_partials(Emitter& e, ir::RegionId region, int64_t bytes) {
  int64_t start = e.scratch_start();
  const Emitter::Partials& last = e.last_partials;
  bool known = e.shared_read_pending && !e.has_buffers() && last.region == region &&
               last.uses == e.shared_uses;
  if (known && start + bytes <= last.begin) return start;
  if (known && last.end + bytes <= kAlternate) return last.end;
  e.before_shared_write();
  return start;
}

void fold_warps(Reduction& r) {
  if (r.plan.warp_bits.empty()) return;
  Emitter& e = r.e;
  uint32_t ways = 1u << r.plan.warp_bits.size();
  const int64_t bytes = partial_bytes(e.module, e.assignment, r.id);
  const std::optional<int64_t> own = e.own_partials(r.id);
  std::string turn;
  if (own) {
    turn = e.variable("u32", "turn");
    e.out.line(fmt::format("{} ^= {};", turn, bytes));
  }
  const int64_t start = own ? *own : place_partials(e, r.op.parent, bytes);
  std::vector<Scratch> scratch;
  int64_t end = start;
  for (size_t k = 0; k < r.arity(); ++k) {
    scratch.push_back(scratch_of(r, k, static_cast<uint32_t>(end), turn));
    end +=
        (layout::element_count(r.result.shape) * ways * r.type(k).element_bytes() + 15) / 16 * 16;
  }
  e.reserve_shared(own ? end + bytes : end, r.op.span, "a reduction across warps");
  store_partials(r, scratch);
  e.barrier();
  load_and_fold_partials(r, scratch);
  if (own) return;
  e.after_shared_read();
  e.last_partials = {r.op.parent, e.shared_uses, start, end};
}

}  // namespace

void emit_Reduce(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  int axis = static_cast<int>(op.attrs.get_int("axis"));
  layout::LinearLayout source = required_layout(e.module, e.assignment, id, 0);
  Reduction r{.e = e,
              .id = id,
              .op = op,
              .axis = axis,
              .source = source,
              .result = layout::drop_dim(source, axis),
              .plan = layout::plan_reduction(source, axis),
              .fold = {},
              .part = {}};
  r.fold = emit_fold(e, op);
  fold_registers(r);
  fold_lanes(r);
  fold_warps(r);
  for (size_t k = 0; k < r.arity(); ++k) {
    ValueId result = op.results[k];
    View view{.type = e.module.type(result), .layout = r.result, .name = r.part[k]};
    if (view.type.is_scalar()) {
      view.uniform = true;
      if (r.size > 1) {
        view.name = e.fresh(r.part[k]);
        e.out.line(fmt::format("const {} {} = {}[0];", type_name(view.type), view.name, r.part[k]));
      }
    } else {
      view.is_array = r.size > 1;
      for (uint32_t b = 1; b < r.keep; b *= 2) view.columns.push_back(b);
      view = e.convert(view, e.layout_of(result), r.part[k]);
    }
    e.define(result, std::move(view));
  }
}

}  // namespace tilewright::cuda
