#include <array>
#include <limits>

#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

ValueId boolean(Rewriter& rw, const OpNode& node, bool value) {
  return rw.make_constant(ir::Type(rw.type(node.results[0])), value ? 1 : 0);
}

std::string_view swapped(std::string_view predicate) {
  if (predicate == "lt") return "gt";
  if (predicate == "le") return "ge";
  if (predicate == "gt") return "lt";
  if (predicate == "ge") return "le";
  return predicate;
}

std::string_view inverted(std::string_view predicate) {
  if (predicate == "lt") return "ge";
  if (predicate == "le") return "gt";
  if (predicate == "gt") return "le";
  if (predicate == "ge") return "lt";
  return predicate == "eq" ? "ne" : "eq";
}

ValueId make_cmp(Rewriter& rw, ValueId a, ValueId b, std::string_view predicate) {
  return rw.make(Op::Cmp, {a, b}, {{"pred", std::string(predicate)}});
}

struct Range {
  uint64_t lowest, highest;  // bits
};
Range range_of(Dtype dtype) {
  if (is_unsigned(dtype)) return {0, int_to_bits(-1, dtype)};
  uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  return {sign, sign - 1};
}

// ---- cmp ----

// c < x = x > c
Replacement cmp_constant_right(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!rw.constant(node.operands[0]) || rw.constant(node.operands[1])) return kNoMatch;
  return with(
      make_cmp(rw, node.operands[1], node.operands[0], swapped(node.attrs.get_word("pred"))));
}

// x < x = 0, x > x = 0; integers: x == x = 1 and so on (for floats, x may be NaN)
Replacement cmp_self(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (node.operands[0] != node.operands[1]) return kNoMatch;
  std::string_view pred = node.attrs.get_word("pred");
  if (pred == "lt" || pred == "gt") return with(boolean(rw, node, false));
  if (!is_int_type(rw.type(node.operands[0]))) return kNoMatch;
  return with(boolean(rw, node, pred != "ne"));
}

// x < lowest = 0, x >= lowest = 1, x > highest = 0, x <= highest = 1
Replacement cmp_range(Rewriter& rw, ir::OpId, const OpNode& node) {
  const ir::Type& type = rw.type(node.operands[0]);
  auto bits = rw.constant(node.operands[1]);
  if (!bits || !is_int_type(type)) return kNoMatch;
  Range range = range_of(type.dtype);
  std::string_view pred = node.attrs.get_word("pred");
  if (*bits == range.lowest && (pred == "lt" || pred == "ge"))
    return with(boolean(rw, node, pred == "ge"));
  if (*bits == range.highest && (pred == "gt" || pred == "le"))
    return with(boolean(rw, node, pred == "le"));
  return kNoMatch;
}

// i1: (x != 0) = x, (x == 1) = x, (x == 0) = not x, (x != 1) = not x
Replacement cmp_boolean(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto bits = rw.constant(node.operands[1]);
  std::string_view pred = node.attrs.get_word("pred");
  if (!bits || !is_i1(rw.type(node.operands[0])) || (pred != "eq" && pred != "ne")) return kNoMatch;
  if ((*bits == 1) == (pred == "eq")) return with(node.operands[0]);
  return with(rw.make(Op::Not, {node.operands[0]}));
}

// not (x < y) = x >= y (integers), not (x == y) = x != y
Replacement not_of_cmp(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* cmp = rw.def_as(node.operands[0], Op::Cmp);
  if (cmp == nullptr) return kNoMatch;
  std::string pred(cmp->attrs.get_word("pred"));
  ValueId a = rw.resolve(cmp->operands[0]), b = rw.resolve(cmp->operands[1]);
  if (is_float_type(rw.type(a)) && pred != "eq" && pred != "ne") return kNoMatch;
  return with(make_cmp(rw, a, b, inverted(pred)));
}

// ---- select ----

// select 1 a b = a, select 0 a b = b
Replacement select_constant(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto cond = rw.constant(node.operands[0]);
  return cond ? with(node.operands[*cond ? 1 : 2]) : kNoMatch;
}

// select c a a = a
Replacement select_same(Rewriter&, ir::OpId, const OpNode& node) {
  return node.operands[1] == node.operands[2] ? with(node.operands[1]) : kNoMatch;
}

// select (not c) a b = select c b a
Replacement select_not(Rewriter& rw, ir::OpId, const OpNode& node) {
  ValueId cond = operand_of(rw, node.operands[0], Op::Not);
  return cond.valid() ? with(rw.make(Op::Select, {cond, node.operands[2], node.operands[1]}))
                      : kNoMatch;
}

// i1: select c 1 b = c | b, select c a 0 = c & a, select c 0 1 = not c
Replacement select_boolean(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (!is_i1(rw.type(node.operands[1]))) return kNoMatch;
  ValueId c = node.operands[0], a = node.operands[1], b = node.operands[2];
  if (is_int_constant(rw, a, 0) && is_int_constant(rw, b, 1)) return with(rw.make(Op::Not, {c}));
  if (is_int_constant(rw, a, 1)) return with(rw.make(Op::Or, {c, b}));
  return is_int_constant(rw, b, 0) ? with(rw.make(Op::And, {c, a})) : kNoMatch;
}

// select c (select c a b) d = select c a d, select c a (select c b d) = select c a d
Replacement select_nested(Rewriter& rw, ir::OpId, const OpNode& node) {
  std::vector<ValueId> operands = node.operands;
  for (size_t i : {1, 2}) {
    const OpNode* inner = rw.def_as(operands[i], Op::Select);
    if (inner && rw.resolve(inner->operands[0]) == operands[0])
      operands[i] = rw.resolve(inner->operands[i]);
  }
  return operands == node.operands ? kNoMatch : with(rw.make(Op::Select, std::move(operands)));
}

// ---- min, max ----

// min x x = x
Replacement minmax_self(Rewriter&, ir::OpId, const OpNode& node) {
  return node.operands[0] == node.operands[1] ? with(node.operands[0]) : kNoMatch;
}

// integers: min x highest = x, min x lowest = lowest, and so for max
Replacement minmax_range(Rewriter& rw, ir::OpId, const OpNode& node) {
  const ir::Type& type = rw.type(node.operands[0]);
  auto bits = rw.constant(node.operands[1]);
  if (!bits || !is_int_type(type)) return kNoMatch;
  Range range = range_of(type.dtype);
  if (node.op == Op::Max) std::swap(range.lowest, range.highest);
  if (*bits == range.highest) return with(node.operands[0]);
  return *bits == range.lowest ? with(node.operands[1]) : kNoMatch;
}

// min x inf = x, max x -inf = x where NaN wins (where it loses, x may be NaN)
Replacement minmax_infinity(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (node.attrs.get_word("nan") != "propagate") return kNoMatch;
  double infinity = std::numeric_limits<double>::infinity();
  const ir::Type& type = rw.type(node.operands[0]);
  if (!is_float_type(type) || is_fp8(type.dtype)) return kNoMatch;
  return is_float_constant(rw, node.operands[1], node.op == Op::Min ? infinity : -infinity)
             ? with(node.operands[0])
             : kNoMatch;
}

constexpr Rule kRules[] = {
    {Op::Cmp, "cmp-constant-right", cmp_constant_right},
    {Op::Cmp, "cmp-self", cmp_self},
    {Op::Cmp, "cmp-range", cmp_range},
    {Op::Cmp, "cmp-boolean", cmp_boolean},
    {Op::Not, "not-cmp", not_of_cmp},
    {Op::Select, "select-constant", select_constant},
    {Op::Select, "select-same", select_same},
    {Op::Select, "select-not", select_not},
    {Op::Select, "select-boolean", select_boolean},
    {Op::Select, "select-nested", select_nested},
    {Op::Min, "min-self", minmax_self},
    {Op::Max, "max-self", minmax_self},
    {Op::Min, "min-range", minmax_range},
    {Op::Max, "max-range", minmax_range},
    {Op::Min, "min-infinity", minmax_infinity},
    {Op::Max, "max-infinity", minmax_infinity},
};

}  // namespace

std::span<const Rule> logic_rules() {
  return kRules;
}

}  // namespace tilewright::passes
