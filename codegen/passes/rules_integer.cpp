#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

bool on_ints(Rewriter& rw, const OpNode& node) {
  return is_int_type(rw.type(node.operands[0]));
}

// A constant of the type of `like`.
ValueId int_constant(Rewriter& rw, ValueId like, int64_t value) {
  const ir::Type type = rw.type(like);
  return rw.make_constant(type, int_to_bits(value, type.dtype));
}

// x op c = x
template <int64_t c>
Replacement neutral_right(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_int_constant(rw, node.operands[1], c) ? with(node.operands[0]) : kNoMatch;
}

// x op c = c
template <int64_t c>
Replacement absorbing_right(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_int_constant(rw, node.operands[1], c) ? with(node.operands[1]) : kNoMatch;
}

// x op x = x
Replacement idempotent(Rewriter& rw, ir::OpId, const OpNode& node) {
  return on_ints(rw, node) && node.operands[0] == node.operands[1] ? with(node.operands[0])
                                                                   : kNoMatch;
}

// x op x = 0
Replacement cancel(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!on_ints(rw, node) || node.operands[0] != node.operands[1]) return kNoMatch;
  return with(int_constant(rw, node.operands[0], 0));
}

// (x op c1) op c2 = x op (c1 op c2)
Replacement associate(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!on_ints(rw, node) || !rw.constant(node.operands[1])) return kNoMatch;
  const OpNode* inner = rw.def_as(node.operands[0], node.op);
  if (inner == nullptr || inner->attrs != node.attrs) return kNoMatch;
  ValueId x = rw.resolve(inner->operands[0]), c1 = rw.resolve(inner->operands[1]);
  if (!rw.constant(c1)) return kNoMatch;
  ValueId c = rw.make(node.op, {c1, node.operands[1]}, node.attrs);
  return with(rw.make(node.op, {x, c}, node.attrs));
}

// x - c = x + -c
Replacement sub_constant(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!on_ints(rw, node) || !rw.constant(node.operands[1])) return kNoMatch;
  ValueId c = rw.make(Op::Neg, {node.operands[1]});
  return with(rw.make(Op::Add, {node.operands[0], c}));
}

// 0 - x = neg x
Replacement sub_from_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_int_constant(rw, node.operands[0], 0)) return kNoMatch;
  return with(rw.make(Op::Neg, {node.operands[1]}));
}

// (x - y) + y = x, y + (x - y) = x
Replacement add_of_difference(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!on_ints(rw, node)) return kNoMatch;
  for (int i : {0, 1}) {
    const OpNode* difference = rw.def_as(node.operands[i], Op::Sub);
    if (difference && rw.resolve(difference->operands[1]) == node.operands[1 - i])
      return with(rw.resolve(difference->operands[0]));
  }
  return kNoMatch;
}

// (x + y) - y = x, (x + y) - x = y
Replacement difference_of_sum(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* sum = on_ints(rw, node) ? rw.def_as(node.operands[0], Op::Add) : nullptr;
  if (sum == nullptr) return kNoMatch;
  ValueId x = rw.resolve(sum->operands[0]), y = rw.resolve(sum->operands[1]);
  if (y == node.operands[1]) return with(x);
  return x == node.operands[1] ? with(y) : kNoMatch;
}

// x * -1 = neg x, x / -1 = neg x (signed)
Replacement times_minus_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  const ir::Type& type = rw.type(node.operands[0]);
  if (is_i1(type) || !is_int_constant(rw, node.operands[1], -1)) return kNoMatch;
  if (node.op == Op::Div && !is_signed(type.dtype)) return kNoMatch;
  return with(rw.make(Op::Neg, {node.operands[0]}));
}

// x % 1 = 0; mulhi x 0 = 0, mulhi x 1 = 0 (unsigned)
Replacement zero_by_right(Rewriter& rw, ir::OpId, const OpNode& node) {
  bool by_one = is_int_constant(rw, node.operands[1], 1);
  bool by_zero = is_int_constant(rw, node.operands[1], 0);
  bool is_unsigned_type = is_unsigned(rw.type(node.operands[0]).dtype);
  bool is_zero = node.op == Op::Rem ? by_one : by_zero || (by_one && is_unsigned_type);
  return is_zero ? with(int_constant(rw, node.operands[0], 0)) : kNoMatch;
}

// neg (x - y) = y - x
Replacement neg_of_difference(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* difference = on_ints(rw, node) ? rw.def_as(node.operands[0], Op::Sub) : nullptr;
  if (difference == nullptr) return kNoMatch;
  ValueId x = rw.resolve(difference->operands[0]), y = rw.resolve(difference->operands[1]);
  return with(rw.make(Op::Sub, {y, x}));
}

// abs x = x (unsigned)
Replacement abs_of_unsigned(Rewriter& rw, ir::OpId, const OpNode& node) {
  return on_ints(rw, node) && is_unsigned(rw.type(node.operands[0]).dtype) ? with(node.operands[0])
                                                                           : kNoMatch;
}

// i1: x + y = x ^ y, x - y = x ^ y, x * y = x & y, min = &, max = |, neg x = x
Replacement boolean_arithmetic(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_i1(rw.type(node.operands[0]))) return kNoMatch;
  if (node.op == Op::Neg) return with(node.operands[0]);
  Op op = node.op == Op::Mul || node.op == Op::Min ? Op::And
          : node.op == Op::Max                     ? Op::Or
                                                   : Op::Xor;
  return with(rw.make(op, node.operands));
}

// x ^ -1 = not x
Replacement xor_with_ones(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_int_constant(rw, node.operands[1], -1) ? with(rw.make(Op::Not, {node.operands[0]}))
                                                   : kNoMatch;
}

// not not x = x
Replacement not_of_not(Rewriter& rw, ir::OpId, const OpNode& node) {
  return with(operand_of(rw, node.operands[0], Op::Not));
}

// 0 << x = 0, 0 >> x = 0; x << c = 0 and, unsigned, x >> c = 0 for c of the width or more
Replacement shift_to_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (is_int_constant(rw, node.operands[0], 0)) return with(node.operands[0]);
  const ir::Type& type = rw.type(node.operands[0]);
  auto amount = rw.constant(node.operands[1]);
  if (!amount || *amount < static_cast<uint64_t>(dtype_bits(type.dtype))) return kNoMatch;
  if (node.op == Op::Shr && is_signed(type.dtype)) return kNoMatch;
  return with(int_constant(rw, node.operands[0], 0));
}

constexpr Rule kRules[] = {
    {Op::Add, "add-boolean", boolean_arithmetic},
    {Op::Sub, "sub-boolean", boolean_arithmetic},
    {Op::Mul, "mul-boolean", boolean_arithmetic},
    {Op::Min, "min-boolean", boolean_arithmetic},
    {Op::Max, "max-boolean", boolean_arithmetic},
    {Op::Neg, "neg-boolean", boolean_arithmetic},
    {Op::Add, "add-zero", neutral_right<0>},
    {Op::Add, "add-associate", associate},
    {Op::Add, "add-of-difference", add_of_difference},
    {Op::Sub, "sub-self", cancel},
    {Op::Sub, "sub-constant", sub_constant},
    {Op::Sub, "sub-from-zero", sub_from_zero},
    {Op::Sub, "sub-of-sum", difference_of_sum},
    {Op::Mul, "mul-zero", absorbing_right<0>},
    {Op::Mul, "mul-one", neutral_right<1>},
    {Op::Mul, "mul-minus-one", times_minus_one},
    {Op::Mul, "mul-associate", associate},
    {Op::Div, "div-one", neutral_right<1>},
    {Op::Div, "div-minus-one", times_minus_one},
    {Op::Rem, "rem-one", zero_by_right},
    {Op::MulHi, "mulhi-zero", zero_by_right},
    {Op::Neg, "neg-of-difference", neg_of_difference},
    {Op::Abs, "abs-unsigned", abs_of_unsigned},
    {Op::And, "and-zero", absorbing_right<0>},
    {Op::And, "and-ones", neutral_right<-1>},
    {Op::And, "and-self", idempotent},
    {Op::And, "and-associate", associate},
    {Op::Or, "or-zero", neutral_right<0>},
    {Op::Or, "or-ones", absorbing_right<-1>},
    {Op::Or, "or-self", idempotent},
    {Op::Or, "or-associate", associate},
    {Op::Xor, "xor-zero", neutral_right<0>},
    {Op::Xor, "xor-self", cancel},
    {Op::Xor, "xor-ones", xor_with_ones},
    {Op::Xor, "xor-associate", associate},
    {Op::Not, "not-not", not_of_not},
    {Op::Shl, "shl-by-zero", neutral_right<0>},
    {Op::Shr, "shr-by-zero", neutral_right<0>},
    {Op::Shl, "shl-to-zero", shift_to_zero},
    {Op::Shr, "shr-to-zero", shift_to_zero},
    {Op::Min, "min-associate", associate},
    {Op::Max, "max-associate", associate},
};

}  // namespace

std::span<const Rule> integer_rules() {
  return kRules;
}

}  // namespace tilewright::passes
