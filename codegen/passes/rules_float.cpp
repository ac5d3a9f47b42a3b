// Floats keep their bits: signed zeros, infinities and rounding are as before. (Which NaN comes out
// of an operation on NaN is not defined by dsl/LANGUAGE.md.) Not here because they are wrong:
// x + 0.0 = x (x = -0.0), 0.0 - x = neg x (x = 0.0), x * 0.0 = 0.0, x - x = 0.0, x / x = 1.0.
#include <cmath>

#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

bool on_floats(Rewriter& rw, const OpNode& node) {
  return is_float_type(rw.type(node.operands[0]));
}

// x + -0.0 = x
Replacement add_negative_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_float_constant(rw, node.operands[1], -0.0) ? with(node.operands[0]) : kNoMatch;
}

// x - 0.0 = x
Replacement sub_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_float_constant(rw, node.operands[1], 0.0) ? with(node.operands[0]) : kNoMatch;
}

// -0.0 - x = neg x
Replacement sub_from_negative_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_float_constant(rw, node.operands[0], -0.0)) return kNoMatch;
  return with(rw.make(Op::Neg, {node.operands[1]}));
}

// Also for integers:
// x + neg y = x - y, neg x + y = y - x
Replacement add_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (ValueId y = operand_of(rw, node.operands[1], Op::Neg); y.valid())
    return with(rw.make(Op::Sub, {node.operands[0], y}));
  ValueId x = operand_of(rw, node.operands[0], Op::Neg);
  return x.valid() ? with(rw.make(Op::Sub, {node.operands[1], x})) : kNoMatch;
}

// x - neg y = x + y
Replacement sub_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  ValueId y = operand_of(rw, node.operands[1], Op::Neg);
  return y.valid() ? with(rw.make(Op::Add, {node.operands[0], y})) : kNoMatch;
}

// neg neg x = x
Replacement neg_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  return with(operand_of(rw, node.operands[0], Op::Neg));
}

// abs neg x = abs x (not for unsigned integers, of which abs is nothing)
Replacement abs_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (is_unsigned(rw.type(node.operands[0]).dtype)) return kNoMatch;
  ValueId x = operand_of(rw, node.operands[0], Op::Neg);
  return x.valid() ? with(rw.make(Op::Abs, {x})) : kNoMatch;
}

// abs abs x = abs x
Replacement abs_of_abs(Rewriter& rw, ir::OpId, const OpNode& node) {
  return operand_of(rw, node.operands[0], Op::Abs).valid() ? with(node.operands[0]) : kNoMatch;
}

// neg x * neg y = x * y, neg x * c = x * -c
Replacement mul_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  ValueId x = operand_of(rw, node.operands[0], Op::Neg);
  if (!x.valid()) return kNoMatch;
  ValueId y = operand_of(rw, node.operands[1], Op::Neg);
  if (!y.valid() && rw.constant(node.operands[1])) y = rw.make(Op::Neg, {node.operands[1]});
  return y.valid() ? with(rw.make(Op::Mul, {x, y})) : kNoMatch;
}

// x * 1.0 = x, x / 1.0 = x
Replacement by_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_float_constant(rw, node.operands[1], 1.0) ? with(node.operands[0]) : kNoMatch;
}

// x * -1.0 = neg x
Replacement mul_minus_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_float_constant(rw, node.operands[1], -1.0)) return kNoMatch;
  return with(rw.make(Op::Neg, {node.operands[0]}));
}

// x / c = x * (1 / c) where c is a power of two whose inverse is a normal number
Replacement div_by_power_of_two(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!on_floats(rw, node)) return kNoMatch;
  auto bits = rw.constant(node.operands[1]);
  if (!bits) return kNoMatch;
  const ir::Type type = rw.type(node.operands[1]);
  double c = bits_to_float(*bits, type.dtype);
  int exponent = 0;
  int limit = type.dtype == Dtype::kF64 ? 1022 : 126;
  if (std::fabs(std::frexp(c, &exponent)) != 0.5 || std::abs(exponent - 1) > limit) return kNoMatch;
  ValueId inverse = rw.make_constant(type, float_to_bits(1 / c, type.dtype));
  return with(rw.make(Op::Mul, {node.operands[0], inverse}));
}

// fma x 1.0 y = x + y
Replacement fma_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_float_constant(rw, node.operands[1], 1.0)) return kNoMatch;
  return with(rw.make(Op::Add, {node.operands[0], node.operands[2]}));
}

// fma x y -0.0 = x * y
Replacement fma_negative_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_float_constant(rw, node.operands[2], -0.0)) return kNoMatch;
  return with(rw.make(Op::Mul, {node.operands[0], node.operands[1]}));
}

// fma (neg x) (neg y) z = fma x y z, fma (neg x) c z = fma x -c z
Replacement fma_of_neg(Rewriter& rw, ir::OpId, const OpNode& node) {
  ValueId x = operand_of(rw, node.operands[0], Op::Neg);
  if (!x.valid()) return kNoMatch;
  ValueId y = operand_of(rw, node.operands[1], Op::Neg);
  if (!y.valid() && rw.constant(node.operands[1])) y = rw.make(Op::Neg, {node.operands[1]});
  return y.valid() ? with(rw.make(Op::Fma, {x, y, node.operands[2]})) : kNoMatch;
}

constexpr Rule kRules[] = {
    {Op::Add, "add-negative-zero", add_negative_zero},
    {Op::Add, "add-of-neg", add_of_neg},
    {Op::Sub, "sub-zero", sub_zero},
    {Op::Sub, "sub-from-negative-zero", sub_from_negative_zero},
    {Op::Sub, "sub-of-neg", sub_of_neg},
    {Op::Mul, "mul-float-one", by_one},
    {Op::Mul, "mul-float-minus-one", mul_minus_one},
    {Op::Mul, "mul-of-neg", mul_of_neg},
    {Op::Div, "div-float-one", by_one},
    {Op::DivRn, "div_rn-one", by_one},
    {Op::Div, "div-by-power-of-two", div_by_power_of_two},
    {Op::DivRn, "div_rn-by-power-of-two", div_by_power_of_two},
    {Op::Neg, "neg-neg", neg_of_neg},
    {Op::Abs, "abs-of-neg", abs_of_neg},
    {Op::Abs, "abs-of-abs", abs_of_abs},
    {Op::Fma, "fma-one", fma_one},
    {Op::Fma, "fma-negative-zero", fma_negative_zero},
    {Op::Fma, "fma-of-neg", fma_of_neg},
};

}  // namespace

std::span<const Rule> float_rules() {
  return kRules;
}

}  // namespace tilewright::passes
