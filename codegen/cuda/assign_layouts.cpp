#include "codegen/cuda/assign_layouts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;
using layout::LinearLayout;

// ---- what there is ----

void collect_slots(Assigner& a, const OpNode& op) {
  auto region = [&](int i) -> const ir::Region& { return a.module.region(op.regions[i]); };
  auto last = [&](int i) -> const OpNode& { return a.module.op(region(i).ops.back()); };
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (!a.is_tile(op.results[i])) continue;
    Slot slot;
    slot.members.push_back(op.results[i]);
    if (op.op == Op::For) {
      slot.members.push_back(region(0).args[i + 1]);
      slot.sources = {op.operands[i + 3], last(0).operands[i]};
    } else if (op.op == Op::While) {
      slot.members.push_back(region(0).args[i]);
      slot.members.push_back(region(1).args[i]);
      slot.sources = {op.operands[i], last(0).operands[i + 1], last(1).operands[i]};
    } else {
      slot.sources = {last(0).operands[i], last(1).operands[i]};
    }
    a.slots.push_back(std::move(slot));
  }
}

// Visits in order, noting loops around each op and which values are flexible.
void collect(Assigner& a, RegionId region, int depth) {
  for (ValueId arg : a.module.region(region).args) a.state(arg).depth = depth;
  for (OpId id : a.module.region(region).ops) {
    const OpNode& op = a.module.op(id);
    a.order.push_back(id);
    a.depths[id] = depth;
    bool flexible = is_flexible_op(a.module, op) ||
                    (op.op == Op::SharedLoad &&
                     (feeds_dot(a.module, op.results[0]) || is_broadcast_beside_dot(a.module, id)));
    // These only rearrange: whatever they are made of, making them again is cheap.
    if (op.op != Op::Broadcast && op.op != Op::ExpandDims)
      for (ValueId operand : op.operands)
        flexible &= !a.is_tile(operand) || a.state(operand).flexible;
    for (ValueId result : op.results) {
      a.state(result).depth = depth;
      a.state(result).flexible = flexible;
    }
    bool loop = op.op == Op::For || op.op == Op::While;
    for (RegionId nested : op.regions) collect(a, nested, depth + (loop ? 1 : 0));
    if (loop || op.op == Op::If) collect_slots(a, op);
  }
}

// ---- forward ----

// The operand whose layout an op takes over: the one of highest rank, the first among equals.
const ValueState* leading_operand(Assigner& a, const std::vector<ValueId>& operands) {
  const ValueState* best = nullptr;
  for (ValueId operand : operands) {
    const ValueState& s = a.state(operand);
    if (!a.is_tile(operand) || s.flexible || !s.layout) continue;
    if (best == nullptr || s.rank > best->rank) best = &s;
  }
  return best;
}

bool spread_op(Assigner& a, OpId id) {
  const OpNode& op = a.module.op(id);
  if (op.results.empty()) return false;
  ValueId result = op.results[0];
  bool changed = false;
  switch (op.op) {
    case Op::Load:
    case Op::AtomicRmw:
    case Op::AtomicCas:
      if (!a.is_tile(result) || a.broadcast_loads.contains(id)) return false;
      return a.raise(result, a.coalesced.at(id), Rank::kMemory);
    case Op::SharedLoad: {
      auto layout = writer_layout(a, id);
      return layout && a.raise(result, *layout, Rank::kMemory);
    }
    case Op::Dot:
      return a.raise(result, a.result.dots.at(id).accumulator, Rank::kDot);
    case Op::For:
    case Op::While:
    case Op::If:
      return false;
    default:
      break;
  }
  const ValueState* lead =
      op.op == Op::Gather ? leading_operand(a, {op.operands[1]}) : leading_operand(a, op.operands);
  if (lead == nullptr) return false;
  ValueState from = *lead;
  bool elementwise = ir::op_info(op.op).family == ir::Family::kElementwise;
  auto layout = elementwise ? from.layout : followed_layout(a.module, op, *from.layout);
  if (!layout) return false;
  for (ValueId r : op.results)
    if (a.is_tile(r)) changed |= a.raise(r, *layout, from.rank);
  return changed;
}

bool spread_forward(Assigner& a) {
  bool changed = false;
  for (OpId id : a.order) changed |= spread_op(a, id);
  for (const Slot& slot : a.slots)
    if (const ValueState* lead = leading_operand(a, slot.sources)) {
      ValueState from = *lead;
      for (ValueId member : slot.members) changed |= a.raise(member, *from.layout, from.rank);
    }
  return changed;
}

// ---- backward ----

// The layout nearest to the wanted one that the op behind a value can give; nullopt if its operands
// alone decide.
std::optional<LinearLayout> possible_layout(Assigner& a, ValueId value,
                                            const LinearLayout& wanted) {
  const OpNode* op = a.module.def(value);
  if (op == nullptr) return wanted;
  int rank = static_cast<int>(wanted.shape.size());
  switch (op->op) {
    case Op::Reduce:
      return std::nullopt;
    case Op::Join:
      return layout::join(layout::drop_dim(wanted, rank - 1));
    case Op::Cat: {
      auto axis = static_cast<int>(op->attrs.get_int("axis"));
      layout::Shape halves = wanted.shape;
      halves[axis] /= 2;
      halves.insert(halves.begin() + axis, 2);
      return layout::cat(layout::drop_dim(layout::reshape(wanted, halves), axis), axis);
    }
    default:
      return wanted;
  }
}

// Gives a layout to a value that has none, with all that shares it: members of its slot, the other
// result of a split.
bool take(Assigner& a, ValueId value, const LinearLayout& layout, Rank rank) {
  for (const Slot& slot : a.slots)
    if (std::ranges::count(slot.members, value) > 0)
      for (ValueId member : slot.members) a.raise(member, layout, rank);
  if (const OpNode* op = a.module.def(value); op != nullptr && op->op == Op::Split)
    for (ValueId result : op->results) a.raise(result, layout, rank);
  a.raise(value, layout, rank);
  return true;
}

// Asks `value` for a layout on behalf of a user; passes the question through flexible values. True
// if some value without a layout took it.
bool ask(Assigner& a, ValueId value, const LinearLayout& layout, std::vector<bool>& seen) {
  if (!a.is_tile(value) || seen[value.index]) return false;
  seen[value.index] = true;
  if (!a.state(value).flexible) {
    if (a.state(value).layout) return false;
    auto possible = possible_layout(a, value, layout);
    return possible && take(a, value, *possible, Rank::kAsked);
  }
  OpId id = a.module.value(value).def;
  LayoutOf layout_of = [&](ValueId v) { return v == value ? &layout : nullptr; };
  for (size_t i = 0; i < a.module.op(id).operands.size(); ++i)
    if (auto needed = needed_layout(a.module, a.result, layout_of, id, static_cast<int>(i)))
      if (ask(a, a.module.op(id).operands[i], *needed, seen)) return true;
  return false;
}

// One value takes what a user asks for; users in inner loops speak first.
bool spread_backward(Assigner& a) {
  std::vector<OpId> users;
  for (OpId id : a.order) {
    const OpNode& op = a.module.op(id);
    bool flexible = op.results.size() == 1 && a.state(op.results[0]).flexible;
    if (!flexible) users.push_back(id);
  }
  std::ranges::stable_sort(users, std::greater{}, [&](OpId id) { return a.depths.at(id); });
  LayoutOf layout_of = [&](ValueId v) -> const LinearLayout* {
    const ValueState& s = a.state(v);
    return s.layout && !s.flexible ? &*s.layout : nullptr;
  };
  for (OpId id : users)
    for (size_t i = 0; i < a.module.op(id).operands.size(); ++i) {
      auto needed = needed_layout(a.module, a.result, layout_of, id, static_cast<int>(i));
      std::vector<bool> seen(a.module.value_count());
      if (needed && ask(a, a.module.op(id).operands[i], *needed, seen)) return true;
    }
  return false;
}

// The first value that still has none takes a plain layout.
bool settle_one(Assigner& a) {
  for (OpId id : a.order) {
    const OpNode& op = a.module.op(id);
    for (ValueId result : op.results) {
      const ValueState& s = a.state(result);
      if (!a.is_tile(result) || s.flexible || s.layout) continue;
      LinearLayout plain = a.default_layout(a.module.type(result));
      if (op.op == Op::Load)
        plain = a.coalesced.at(id);
      else if (op.op == Op::Reduce)
        plain = *followed_layout(a.module, op, a.default_layout(a.module.type(op.operands[0])));
      else
        plain = *possible_layout(a, result, plain);
      return take(a, result, plain, Rank::kDefault);
    }
  }
  return false;
}

void settle_reductions(Assigner& a) {
  for (OpId id : a.order) {
    const OpNode& op = a.module.op(id);
    if (op.op != Op::Reduce && op.op != Op::Histogram) continue;
    const ValueState* lead = leading_operand(a, op.operands);
    a.reductions[id] =
        lead != nullptr ? *lead->layout : a.default_layout(a.module.type(op.operands[0]));
  }
}

}  // namespace

Assigner::Assigner(ir::Module& m, const Target& t)
    : module(m), target(t), axes(analysis::analyze_axes(m)), values(m.value_count()) {
  result.warps = static_cast<int>(m.attrs.get_int("num_warps", 4));
}

bool Assigner::raise(ValueId value, const LinearLayout& layout, Rank rank) {
  ValueState& s = state(value);
  if (s.flexible || rank <= s.rank) return false;
  TW_CHECK(layout.shape == module.type(value).shape, "layout of another shape");
  s.layout = layout;
  s.rank = rank;
  return true;
}

LinearLayout Assigner::default_layout(const ir::Type& type) const {
  std::vector<int> order(type.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  return layout::blocked(type.shape, result.warps, order, 1);
}

Result<LayoutAssignment> assign_layouts(ir::Module& module, const Target& target) {
  int64_t warps = module.attrs.get_int("num_warps", 4);
  if (warps < 1 || warps > 32 || !std::has_single_bit(static_cast<uint64_t>(warps)))
    return make_error(
        DiagKind::kOutOfResources,
        "num_warps is " + std::to_string(warps) + ", but a program has 1, 2, 4, 8, 16 or 32 warps");
  Assigner a(module, target);
  collect(a, module.body, 0);
  plan_dots(a);
  plan_memory(a);
  while (spread_forward(a) || spread_backward(a) || settle_one(a)) {
  }
  settle_reductions(a);
  settle_stores(a);
  for (OpId id : a.order)
    if (module.op(id).op == Op::Load && a.is_tile(module.op(id).results[0]))
      a.result.memory[id] = *a.state(module.op(id).results[0]).layout;
  find_vectors(a);
  rewrite_uses(a);
  settle_buffers(a);
  return std::move(a.result);
}

}  // namespace tilewright::cuda
