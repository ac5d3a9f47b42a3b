#include <array>

#include "codegen/passes/fold.h"
#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

constexpr size_t kMaxOperands = 3;

// op(c, …) = c'
Replacement fold(Rewriter& rw, ir::OpId, const OpNode& node) {
  std::array<uint64_t, kMaxOperands> x{};
  std::array<ir::Type, kMaxOperands> types;
  size_t count = node.operands.size();
  for (size_t i = 0; i < count; ++i) {
    auto bits = rw.constant(node.operands[i]);
    if (!bits) return kNoMatch;
    x[i] = *bits;
    types[i] = rw.type(node.operands[i]);
  }
  const ir::Type result = rw.type(node.results[0]);
  auto bits = fold_element(node, std::span(types).first(count), result, std::span(x).first(count));
  return bits ? with(rw.make_constant(result, *bits)) : kNoMatch;
}

// op(splat x, splat y, c) = splat op(x, y, c)
Replacement lift_above_splat(Rewriter& rw, ir::OpId, const OpNode& node) {
  const ir::Type result = rw.type(node.results[0]);
  bool any_splat = false;
  for (ValueId operand : node.operands) {
    bool is_splat = rw.def_as(operand, Op::Splat) != nullptr;
    if (!is_splat && !rw.constant(operand)) return kNoMatch;
    any_splat = any_splat || is_splat;
  }
  if (!any_splat) return kNoMatch;
  std::vector<ValueId> scalars;
  for (ValueId operand : node.operands) {
    ValueId scalar = operand_of(rw, operand, Op::Splat);
    if (!scalar.valid())
      scalar = rw.make_constant(rw.type(operand).element(), *rw.constant(operand));
    if (!scalar.valid()) return kNoMatch;
    scalars.push_back(scalar);
  }
  ValueId scalar = rw.make_as(node.op, result.element(), std::move(scalars), node.attrs);
  return with(rw.make_as(Op::Splat, result, {scalar}));
}

// op(broadcast x, broadcast y, splat z, c) = broadcast op(x, y, splat z, c) where x and y have one
// shape. Addresses stay as they are: they are wide, and offsets are not.
Replacement lift_above_broadcast(Rewriter& rw, ir::OpId, const OpNode& node) {
  const ir::Type result = rw.type(node.results[0]);
  ir::Shape shape;
  for (ValueId operand : node.operands) {
    if (ValueId x = operand_of(rw, operand, Op::Broadcast); x.valid()) {
      if (!shape.empty() && rw.type(x).shape != shape) return kNoMatch;
      shape = rw.type(x).shape;
    } else if (!rw.def_as(operand, Op::Splat) && !rw.constant(operand)) {
      return kNoMatch;
    }
  }
  if (shape.empty()) return kNoMatch;
  std::vector<ValueId> operands;
  for (ValueId operand : node.operands) {
    const ir::Type small = rw.type(operand).with_shape(shape);
    if (ValueId x = operand_of(rw, operand, Op::Broadcast); x.valid())
      operands.push_back(x);
    else if (auto bits = rw.constant(operand))
      operands.push_back(rw.make_constant(small, *bits));
    else
      operands.push_back(rw.make_as(Op::Splat, small, {operand_of(rw, operand, Op::Splat)}));
  }
  ValueId x = rw.make_as(node.op, result.with_shape(shape), std::move(operands), node.attrs);
  return with(rw.make_as(Op::Broadcast, result, {x}));
}

// c + x = x + c, for every commutative op
Replacement constant_right(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!rw.constant(node.operands[0]) || rw.constant(node.operands[1])) return kNoMatch;
  std::vector<ValueId> operands = node.operands;
  std::swap(operands[0], operands[1]);
  return with(rw.make_as(node.op, rw.type(node.results[0]), std::move(operands), node.attrs));
}

std::vector<Rule> make_rules() {
  std::vector<Rule> rules;
  for (int i = 0; i < ir::kOpCount; ++i) {
    if (ir::kOpTable[i].family != ir::Family::kElementwise) continue;
    Op op = static_cast<Op>(i);
    rules.push_back({op, "fold", fold});
    if (ir::kOpTable[i].has(ir::kCommutative) || op == Op::Fma)
      rules.push_back({op, "constant-right", constant_right});
    rules.push_back({op, "lift-above-splat", lift_above_splat});
    if (op != Op::PtrAdd) rules.push_back({op, "lift-above-broadcast", lift_above_broadcast});
  }
  return rules;
}

}  // namespace

std::span<const Rule> constant_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

}  // namespace tilewright::passes
