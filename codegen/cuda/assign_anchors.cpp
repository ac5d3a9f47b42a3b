// Where layouts come from: dots and memory ops.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "codegen/cuda/assign_layouts.h"
#include "codegen/cuda/orientation.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::ValueId;
using layout::LinearLayout;
using layout::MmaTiling;

// ---- dots ----

// Warps over M and N so that the operands they read together, warps_n * M + warps_m * N rows and
// columns of K, are fewest, those counted `cost_a` and `cost_b` times. In a chain of dots all warps
// go along M as far as it reaches: then the first dot's result is the second one's operand A where
// it is, and rows are reduced within a warp.
void place_warps(MmaTiling& tiling, int64_t m, int64_t n, int warps, bool chained, int cost_a,
                 int cost_b) {
  int most_m = static_cast<int>(std::max<int64_t>(1, m / tiling.instruction.m));
  int most_n = static_cast<int>(std::max<int64_t>(1, n / tiling.instruction.n));
  int best = 0;
  int64_t best_traffic = 0;
  for (int warps_m = 1; warps_m <= std::min(warps, most_m); warps_m *= 2) {
    int warps_n = warps / warps_m;
    int64_t traffic =
        chained ? -warps_m : std::min(warps_n, most_n) * m * cost_a + warps_m * n * cost_b;
    // Warps without a tile of their own only repeat work.
    if (warps_n > most_n) traffic += int64_t{1} << 40;
    if (best == 0 || traffic <= best_traffic) {
      best = warps_m;
      best_traffic = traffic;
    }
  }
  tiling.warps_m = best;
  tiling.warps_n = warps / best;
}

// What an operand's value costs a warp that reads it, in reads from shared memory: every warp
// computes again what element-wise ops make of a slot (weights that are unpacked).
int operand_cost(const ir::Module& module, ValueId operand) {
  constexpr int kComputed = 4;
  std::set<ValueId> seen;
  std::vector<std::pair<ValueId, bool>> pending = {{operand, false}};
  while (!pending.empty()) {
    auto [value, computed] = pending.back();
    pending.pop_back();
    const ir::OpNode* op = module.def(value);
    if (op == nullptr || !module.type(value).is_tile() || !seen.insert(value).second) continue;
    bool elementwise = ir::op_info(op->op).family == ir::Family::kElementwise;
    if (op->op == Op::SharedLoad && computed) return kComputed;
    if (elementwise || op->op == Op::Permute || op->op == Op::Reshape || op->op == Op::Join)
      for (ValueId from : op->operands) pending.emplace_back(from, computed || elementwise);
  }
  return 1;
}

// A few rows and columns a thread, so that each value read from shared memory is used several
// times.
LinearLayout fma_accumulator(const ir::Shape& shape, int warps) {
  int rank = static_cast<int>(shape.size());
  int axis_m = rank - 2, axis_n = rank - 1;
  int m = std::countr_zero(static_cast<uint64_t>(shape[axis_m]));
  int n = std::countr_zero(static_cast<uint64_t>(shape[axis_n]));
  int warp_bits = std::countr_zero(static_cast<unsigned>(warps));
  int spare = std::max(0, m + n - layout::kLaneBits - warp_bits);
  int columns = std::min({2, n, (spare + 1) / 2}), rows = std::min({2, m, spare - columns});
  uint32_t low_m = 1u << layout::axis_shift(shape, axis_m);
  uint32_t low_n = 1u << layout::axis_shift(shape, axis_n);
  std::vector<uint32_t> inner, outer;
  for (int i = 0; i < columns; ++i) inner.push_back(low_n << i);
  for (int i = 0; i < rows; ++i) inner.push_back(low_m << i);
  for (int i = columns; i < n; ++i) outer.push_back(low_n << i);
  for (int i = rows; i < m; ++i) outer.push_back(low_m << i);
  if (rank == 3)
    for (int64_t b = 1; b < shape[0]; b *= 2)
      outer.push_back(static_cast<uint32_t>(b) << layout::axis_shift(shape, 0));
  LinearLayout result;
  result.shape = shape;
  result.reg = inner;
  size_t next = 0;
  auto take = [&] { return next < outer.size() ? outer[next++] : 0u; };
  for (int i = 0; i < layout::kLaneBits; ++i) result.lane.push_back(take());
  for (int i = 0; i < warp_bits; ++i) result.warp.push_back(take());
  while (next < outer.size()) result.reg.push_back(take());
  return result;
}

// The dot that computes `value` through element-wise ops and branches, if any.
OpId source_dot(const ir::Module& module, ValueId value, std::set<ValueId>& seen) {
  const ir::OpNode* op = module.def(value);
  if (op == nullptr || !module.type(value).is_tile() || !seen.insert(value).second) return {};
  if (op->op == Op::Dot) return module.value(value).def;
  if (op->op == Op::If) {
    const ir::OpNode& yield = module.op(module.region(op->regions[0]).ops.back());
    return source_dot(module, yield.operands[module.value(value).position], seen);
  }
  if (ir::op_info(op->op).family != ir::Family::kElementwise) return {};
  for (ValueId operand : op->operands)
    if (OpId dot = source_dot(module, operand, seen); dot.valid()) return dot;
  return {};
}

std::set<OpId> chained_dots(const Assigner& assigner) {
  std::set<OpId> chained;
  for (OpId id : assigner.order) {
    const ir::OpNode& op = assigner.module.op(id);
    if (op.op != Op::Dot) continue;
    std::set<ValueId> seen;
    if (OpId first = source_dot(assigner.module, op.operands[0], seen); first.valid()) {
      chained.insert(first);
      chained.insert(id);
    }
  }
  return chained;
}

// Dimensions by length of their runs of addresses, longest first; later dimensions on a tie.
std::vector<int> access_order(const analysis::AxisInfo& pointers) {
  std::vector<int> order(pointers.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  std::ranges::stable_sort(order, std::greater{},
                           [&](int axis) { return pointers.contiguity[axis]; });
  return order;
}

// Operands that are contiguous along M or N, not K. 8 bits: ldmatrix.trans gives a lane two
// columns. 32 bits: nothing transposes them, but the values of rows g and g + 8 are neighbours in
// A's registers, and so they are read together if they are neighbours in memory. (Of B each
// register holds another step along K; reading its neighbours together costs a move each.)
void interleave(const Assigner& assigner, MmaTiling& tiling, const ir::OpNode& op, int64_t m,
                int64_t n) {
  bool bytes = tiling.element_bits == 8, words = tiling.element_bits == 32;
  if ((!bytes && !words) || tiling.instruction.m != 16 || !assigner.target.has_ldmatrix) return;
  int rank = assigner.module.type(op.operands[0]).rank();
  if (m >= 16 && contiguous_axis(assigner.module, assigner.axes, op.operands[0]) == rank - 2)
    tiling.interleaved_m = true;
  if (bytes && n >= 16 * tiling.warps_n &&
      contiguous_axis(assigner.module, assigner.axes, op.operands[1]) == rank - 1)
    tiling.interleaved_n = true;
}

// A sparse operand whose metadata is contiguous along M: both halves of a register of metadata are
// then neighbours in memory.
void interleave_metadata(const Assigner& assigner, MmaTiling& tiling, const ir::OpNode& op,
                         int64_t m) {
  if (tiling.element_bits == 8 || m < 16) return;
  tiling.interleaved_m = dtype_bits(assigner.module.type(op.operands[3]).dtype) == 16 &&
                         contiguous_axis(assigner.module, assigner.axes, op.operands[3]) == 0 &&
                         contiguous_axis(assigner.module, assigner.axes, op.operands[0]) != 0;
}

DotPlan plan_dot(const Assigner& assigner, OpId id, bool chained) {
  const ir::Module& module = assigner.module;
  const ir::OpNode& op = module.op(id);
  const ir::Type& a = module.type(op.operands[0]);
  const ir::Type& b = module.type(op.operands[1]);
  const ir::Type& acc = module.type(op.operands[2]);
  int rank = acc.rank();
  int64_t m = acc.shape[rank - 2], n = acc.shape[rank - 1];
  auto unit = find_unit(assigner.target, dot_types(module, op));
  DotPlan plan;
  if (!unit) {
    plan.accumulator = fma_accumulator(acc.shape, assigner.result.warps);
    return plan;
  }
  plan.kind = DotPlan::Kind::kMma;
  plan.unit = *unit;
  plan.tiling.instruction = unit->instruction;
  plan.tiling.element_bits = unit->element_bits();
  plan.tiling.sparse = unit->sparse;
  place_warps(plan.tiling, m, n, assigner.result.warps, chained,
              operand_cost(module, op.operands[0]), operand_cost(module, op.operands[1]));
  interleave(assigner, plan.tiling, op, m, n);
  if (unit->sparse) {
    interleave_metadata(assigner, plan.tiling, op, m);
    const ir::Type& metadata = module.type(op.operands[3]);
    plan.sides[0] = layout::mma_metadata(metadata.shape, plan.tiling, dtype_bits(metadata.dtype));
  }
  for (size_t i = 0; unit->scales > 0 && i < 2; ++i)
    plan.sides[i] = layout::mma_scales(module.type(op.operands[3 + i]).shape, plan.tiling, i == 0);
  plan.operand_a = layout::mma_operand_a(a.shape, plan.tiling);
  plan.operand_b = layout::mma_operand_b(b.shape, plan.tiling);
  plan.accumulator = layout::mma_accumulator(acc.shape, plan.tiling);
  return plan;
}

// ---- memory ----

// Neighbours that the target adds to memory at once, if nothing reads what was there.
int added_at_once(const Assigner& assigner, OpId id) {
  const ir::OpNode& op = assigner.module.op(id);
  if (op.op != Op::AtomicRmw || op.attrs.get_word("op") != "add") return 1;
  bool vectors = assigner.target.sm >= 90;
  int most = 1;
  switch (assigner.module.type(op.operands[1]).dtype) {
    case Dtype::kF32:
      most = vectors ? 4 : 1;
      break;
    case Dtype::kF16:
      most = vectors ? 8 : 2;
      break;
    case Dtype::kBF16:
      most = vectors ? 8 : 1;
      break;
    default:
      break;
  }
  if (most == 1) return 1;
  for (OpId user : assigner.order)
    if (std::ranges::count(assigner.module.op(user).operands, op.results[0]) > 0) return 1;
  return most;
}

int access_width(const Assigner& assigner, OpId id, int axis) {
  Op op = assigner.module.op(id).op;
  int most =
      op == Op::Load || op == Op::Store || op == Op::CopyAsync ? 16 : added_at_once(assigner, id);
  if (most == 1) return 1;
  return std::min(most, analysis::vector_width(assigner.module, assigner.axes, id, axis));
}

// Elements along `axis` from the low bits of the registers of a layout, all in one aligned group.
int vector_of(const LinearLayout& layout, int axis, int limit) {
  int shift = layout::axis_shift(layout.shape, axis);
  int bits = 0;
  while (bits < static_cast<int>(layout.reg.size()) && 2 << bits <= limit &&
         layout.reg[bits] == 1u << (shift + bits))
    ++bits;
  // No other bit may reach into the group.
  auto outside = [&](const std::vector<uint32_t>& bases, size_t from) {
    for (size_t i = from; i < bases.size(); ++i)
      if (bases[i] >> shift & ((1u << bits) - 1)) return false;
    return true;
  };
  while (bits > 0 &&
         !(outside(layout.reg, bits) && outside(layout.lane, 0) && outside(layout.warp, 0)))
    --bits;
  return 1 << bits;
}

// True if a store may run in the layout its value has: an access of a warp fills whole 32-byte
// sectors, as far as the addresses allow it, or there are so few accesses that moving the value
// would cost more.
bool stores_well(const Assigner& assigner, OpId id, const LinearLayout& layout) {
  const ir::OpNode& op = assigner.module.op(id);
  const ir::Type& pointer = assigner.module.type(op.operands[0]);
  int axis = assigner.vector_axis.at(id);
  int64_t bytes = dtype_bytes(pointer.dtype);
  int shift = layout::axis_shift(layout.shape, axis);
  constexpr int kFewAccesses = 4;
  if (layout.registers() <= kFewAccesses) return true;
  int64_t run = vector_of(layout, axis, access_width(assigner, id, axis));
  while (run < layout.shape[axis] &&
         std::ranges::count(layout.lane, static_cast<uint32_t>(run) << shift) > 0)
    run *= 2;
  int64_t possible =
      std::min(assigner.axes[op.operands[0].index].contiguity[axis], layout.shape[axis]);
  return run * bytes >= std::min<int64_t>(32, possible * bytes);
}

// What an op hands on of operand `index`: to the results of the op around it, and to a loop's next
// iteration.
void add_carried(const ir::Module& module, const ir::OpNode& op, size_t index,
                 std::set<ValueId>& reached) {
  const ir::OpNode* owner = &op;
  size_t first = 3;  // operand of `for` that is the first carried value
  if (op.op == Op::Yield) {
    owner = &module.op(module.region(op.parent).parent);
    first = 0;
  } else if (op.op != Op::For) {
    return;
  }
  if (owner->op != Op::For && owner->op != Op::If) return;
  if (index < first) return;
  reached.insert(owner->results[index - first]);
  if (owner->op == Op::For)
    reached.insert(module.region(owner->regions[0]).args[index - first + 1]);
}

// Whether something of what a load gives, after element-wise ops and perhaps an iteration later, is
// an operand of an op `wanted`.
bool reaches(const Assigner& assigner, const ir::OpNode& load, Op wanted) {
  const ir::Module& module = assigner.module;
  std::set<ValueId> reached = {load.results[0]};
  for (size_t known = 0; known != reached.size();) {
    known = reached.size();
    for (OpId user : assigner.order) {
      const ir::OpNode& op = module.op(user);
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (!reached.contains(op.operands[i])) continue;
        if (op.op == wanted) return true;
        if (ir::op_info(op.op).family == ir::Family::kElementwise) reached.insert(op.results[0]);
        add_carried(module, op, i, reached);
      }
    }
  }
  return false;
}

// A load of a vector that is broadcast into larger tiles.
bool is_broadcast_load(const Assigner& assigner, const ir::OpNode& op) {
  return op.op == Op::Load && assigner.module.type(op.results[0]).rank() == 1 &&
         reaches(assigner, op, Op::ExpandDims);
}

// What goes to shared memory goes in words of 4 bytes, however short the runs in global memory are.
bool moves_words(const Assigner& assigner, const ir::OpNode& op) {
  return op.op == Op::CopyAsync || (op.op == Op::Load && reaches(assigner, op, Op::SharedStore));
}

}  // namespace

int pointer_operand(Op op) {
  if (op == Op::CopyAsync) return 2;
  bool is_memory = op == Op::Load || op == Op::Store || op == Op::AtomicRmw || op == Op::AtomicCas;
  return is_memory ? 0 : -1;
}

void plan_dots(Assigner& assigner) {
  std::set<OpId> chained = chained_dots(assigner);
  for (OpId id : assigner.order)
    if (assigner.module.op(id).op == Op::Dot)
      assigner.result.dots[id] = plan_dot(assigner, id, chained.contains(id));
}

// One layout for all accesses of a shape that run along the same dimensions, so that what is loaded
// can be combined and stored without moving: the widest access decides, as long as every thread
// still has something to do.
void plan_memory(Assigner& assigner) {
  const ir::Module& module = assigner.module;
  std::map<std::pair<ir::Shape, std::vector<int>>, int> widths;
  for (OpId id : assigner.order) {
    const ir::OpNode& op = module.op(id);
    int operand = pointer_operand(op.op);
    if (operand < 0 || !assigner.is_tile(op.operands[operand])) continue;
    if (is_broadcast_load(assigner, op)) assigner.broadcast_loads.insert(id);
    const ir::Type& type = module.type(op.operands[operand]);
    const ir::Shape& shape = type.shape;
    std::vector<int> order = access_order(assigner.axes[op.operands[operand].index]);
    int64_t share = layout::element_count(shape) / (32 * assigner.result.warps);
    int64_t width = access_width(assigner, id, order[0]);
    // Even if that leaves threads without work.
    if (int64_t word = 4 / dtype_bytes(type.dtype); word > 1 && moves_words(assigner, op)) {
      share = std::max(share, word);
      width = std::max(width, std::min(word, shape[static_cast<size_t>(order[0])]));
    }
    width = std::max<int64_t>(1, std::min(width, share));
    int& widest = widths[{shape, order}];
    widest = std::max(widest, static_cast<int>(width));
    assigner.vector_axis[id] = order[0];
    assigner.access_orders[id] = std::move(order);
  }
  for (const auto& [id, order] : assigner.access_orders) {
    const ir::OpNode& op = module.op(id);
    const ir::Shape& shape = module.type(op.operands[pointer_operand(op.op)]).shape;
    assigner.coalesced[id] =
        layout::blocked(shape, assigner.result.warps, order, widths.at({shape, order}));
    if (module.op(id).op != Op::Load) assigner.result.memory[id] = assigner.coalesced[id];
  }
}

void settle_stores(Assigner& assigner) {
  std::set<ValueId> used;
  for (OpId id : assigner.order)
    for (ValueId operand : assigner.module.op(id).operands) used.insert(operand);
  for (auto& [id, memory] : assigner.result.memory) {
    const ir::OpNode& op = assigner.module.op(id);
    if (op.op == Op::Load || op.op == Op::CopyAsync ||
        (!op.results.empty() && used.contains(op.results[0])))
      continue;
    const ValueState& pointer = assigner.state(op.operands[0]);
    const ValueState& value = assigner.state(op.operands[1]);
    if (!pointer.flexible && pointer.layout)
      memory = *pointer.layout;
    else if (!value.flexible && value.layout && stores_well(assigner, id, *value.layout))
      memory = *value.layout;
    if (!op.results.empty()) assigner.state(op.results[0]).layout = memory;
  }
}

void find_vectors(Assigner& assigner) {
  for (const auto& [id, memory] : assigner.result.memory) {
    int axis = assigner.vector_axis.at(id);
    assigner.result.vectors[id] = vector_of(memory, axis, access_width(assigner, id, axis));
    const ir::OpNode& op = assigner.module.op(id);
    if (op.op != Op::Load) continue;
    constexpr int64_t kMostInARun = 16;
    int64_t run = assigner.axes[op.operands[0].index].contiguity[static_cast<size_t>(axis)];
    assigner.result.runs[id] =
        vector_of(memory, axis, static_cast<int>(std::min(run, kMostInARun)));
  }
}

}  // namespace tilewright::cuda
