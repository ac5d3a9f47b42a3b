// How ops tie the layouts of their operands and results together (layouts.h has the list).
#include <algorithm>

#include "codegen/cuda/assign_layouts.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::ValueId;
using layout::LinearLayout;

// The value whose layout an operand of a terminator must have: what the op around the region calls
// it.
ValueId terminator_target(const ir::Module& module, const ir::OpNode& op, int index) {
  const ir::OpNode& owner = module.op(module.region(op.parent).parent);
  if (op.op == Op::Condition) return owner.results[index - 1];
  if (owner.op == Op::While) return module.region(owner.regions[0]).args[index];
  return owner.results[index];
}

std::optional<LinearLayout> needed_by_memory(const ir::Module& module,
                                             const LayoutAssignment& assignment,
                                             const LayoutOf& layout_of, ir::OpId id) {
  if (auto found = assignment.memory.find(id); found != assignment.memory.end())
    return found->second;
  const ir::OpNode& op = module.op(id);
  if (op.results.empty()) return std::nullopt;
  const LinearLayout* result = layout_of(op.results[0]);
  return result == nullptr ? std::nullopt : std::optional(*result);
}

// A last dimension of 2 comes to lie in a register: the lane or warp bit that holds it changes
// places with the register bit that holds the highest bit of the index, to which networks (sorts)
// come back last. Without that, every thread would hold copies of both halves.
LinearLayout last_in_registers(LinearLayout layout) {
  if (layout.reg.empty() || std::ranges::count(layout.reg, 1u) > 0) return layout;
  uint32_t& highest = *std::ranges::max_element(layout.reg);
  for (std::vector<uint32_t>* columns : {&layout.lane, &layout.warp})
    if (auto at = std::ranges::find(*columns, 1u); at != columns->end() && highest != 0) {
      std::swap(*at, highest);
      return layout;
    }
  return layout;
}

// Ops with one result whose layout decides.
std::optional<LinearLayout> needed_from_result(const ir::Module& module, const ir::OpNode& op,
                                               const LinearLayout& result, int index) {
  const ir::Shape& shape = module.type(op.operands[index]).shape;
  switch (op.op) {
    case Op::ExpandDims:
      return layout::squeeze(result, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Permute: {
      std::vector<int64_t> order = op.attrs.get_list("order");
      return layout::unpermute(result, {order.begin(), order.end()});
    }
    case Op::Reshape:
      return layout::reshape(result, shape);
    case Op::Broadcast:
      return layout::broadcast_source(result, shape);
    case Op::Join:
      return layout::unjoin(result);
    case Op::Cat:
      return layout::uncat(result, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Split:
      return layout::join(result);
    case Op::Scan:
      return layout::scan_layout(result, static_cast<int>(op.attrs.get_int("axis")));
    default:
      return result;  // element-wise, hint, index of gather
  }
}

}  // namespace

std::optional<LinearLayout> needed_layout(const ir::Module& module,
                                          const LayoutAssignment& assignment,
                                          const LayoutOf& layout_of, ir::OpId id, int index) {
  const ir::OpNode& op = module.op(id);
  if (!module.type(op.operands[index]).is_tile()) return std::nullopt;
  auto of = [&](ValueId value) {
    const LinearLayout* known = layout_of(value);
    return known == nullptr ? std::nullopt : std::optional(*known);
  };
  switch (op.op) {
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas:
    case Op::CopyAsync:
      return needed_by_memory(module, assignment, layout_of, id);
    case Op::Dot: {
      const DotPlan& plan = assignment.dots.at(id);
      if (index == 2) return plan.accumulator;
      if (plan.kind == DotPlan::Kind::kFma) return std::nullopt;
      if (index >= 3) return plan.sides[index - 3];
      return index == 0 ? plan.operand_a : plan.operand_b;
    }
    case Op::SharedStore:
      return std::nullopt;
    case Op::Gather:
      if (index == 0) return std::nullopt;
      break;
    case Op::Reduce:
    case Op::Histogram:
    case Op::Assert:  // the operands share the layout of the first that has one
      for (ValueId operand : op.operands)
        if (auto known = of(operand)) return known;
      return std::nullopt;
    case Op::For:
      return of(op.results[index - 3]);
    case Op::While:
      return of(module.region(op.regions[0]).args[index]);
    case Op::Yield:
    case Op::Condition:
      return of(terminator_target(module, op, index));
    default:
      break;
  }
  if (op.results.empty()) return std::nullopt;
  const LinearLayout* result = layout_of(op.results[0]);
  if (result == nullptr || result->shape.empty()) {
    // A split of a vector of two gives scalars: both elements in each thread.
    if (op.op == Op::Split && module.type(op.results[0]).is_scalar())
      return layout::join(layout::replicated({}, assignment.warps));
    return std::nullopt;
  }
  return needed_from_result(module, op, *result, index);
}

std::optional<LinearLayout> followed_layout(const ir::Module& module, const ir::OpNode& op,
                                            const LinearLayout& operand) {
  switch (op.op) {
    case Op::ExpandDims:
      return layout::expand_dims(operand, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Permute: {
      std::vector<int64_t> order = op.attrs.get_list("order");
      return layout::permute(operand, {order.begin(), order.end()});
    }
    case Op::Reshape:
      return layout::reshape(operand, module.type(op.results[0]).shape);
    case Op::Join:
      return layout::join(operand);
    case Op::Cat:
      return layout::cat(operand, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Split:
      return layout::drop_dim(last_in_registers(operand),
                              static_cast<int>(operand.shape.size()) - 1);
    case Op::Reduce:
      return layout::drop_dim(operand, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Scan:
      return layout::scan_layout(operand, static_cast<int>(op.attrs.get_int("axis")));
    case Op::Hint:
    case Op::Gather:  // operand: the index
      return operand;
    default:
      return std::nullopt;
  }
}

bool is_flexible_op(const ir::Module& module, const ir::OpNode& op) {
  if (op.results.size() != 1) return false;
  const ir::Type& type = module.type(op.results[0]);
  switch (op.op) {
    case Op::Const:
    case Op::Arange:
    case Op::Splat:
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Permute:
    case Op::Reshape:
    case Op::Hint:
      return true;
    case Op::Div:
    case Op::Rem:
    case Op::MulHi:  // slow, but a vector has few elements a thread
      return !is_float(type.dtype) && type.rank() <= 1;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Fma:
    case Op::Min:
    case Op::Max:
    case Op::Neg:
    case Op::Abs:
    case Op::Select:
    case Op::Cast:
    case Op::Bitcast:
      return true;
    default:
      return ir::op_info(op.op).family == ir::Family::kElementwise &&
             (type.is_pointer || is_int(type.dtype));
  }
}

LinearLayout required_layout(const ir::Module& module, const LayoutAssignment& assignment,
                             ir::OpId op, int index) {
  LayoutOf layout_of = [&](ValueId value) { return &assignment.values.at(value.index); };
  if (auto needed = needed_layout(module, assignment, layout_of, op, index)) return *needed;
  return assignment.values.at(module.op(op).operands[index].index);
}

}  // namespace tilewright::cuda
