#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

Replacement nothing() {
  return std::vector<ValueId>{};
}

// The bits of the constant mask at operand `index`, or nothing.
std::optional<uint64_t> constant_mask(Rewriter& rw, const OpNode& node, size_t index) {
  if (node.operands.size() <= index) return std::nullopt;
  return rw.constant(node.operands[index]);
}

// load p 1 o = load p; load p 0 o = o, load p 0 = 0
Replacement load_mask(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto mask = constant_mask(rw, node, 1);
  if (!mask) return kNoMatch;
  const ir::Type type = rw.type(node.results[0]);
  if (*mask) return with(rw.make_as(Op::Load, type, {node.operands[0]}, node.attrs));
  if (node.attrs.get_int("volatile") == 1) return kNoMatch;
  return node.operands.size() > 2 ? with(node.operands[2]) : with(rw.make_constant(type, 0));
}

// load p m 0 = load p m
Replacement load_other_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (node.operands.size() < 3 || rw.constant(node.operands[2]) != uint64_t{0}) return kNoMatch;
  const ir::Type type = rw.type(node.results[0]);
  return with(rw.make_as(Op::Load, type, {node.operands[0], node.operands[1]}, node.attrs));
}

// store p v 1 = store p v; store p v 0 = nothing
Replacement store_mask(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto mask = constant_mask(rw, node, 2);
  if (!mask) return kNoMatch;
  if (*mask) rw.make_op(Op::Store, {node.operands[0], node.operands[1]}, node.attrs, {});
  return nothing();
}

// atomic p v 1 = atomic p v; atomic p v 0 = 0
Replacement atomic_mask(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto mask = constant_mask(rw, node, 2);
  if (!mask) return kNoMatch;
  const ir::Type type = rw.type(node.results[0]);
  if (!*mask) return with(rw.make_constant(type, 0));
  return with(rw.make_as(Op::AtomicRmw, type, {node.operands[0], node.operands[1]}, node.attrs));
}

// assume 1 = nothing, assert 1 = nothing
Replacement known_condition(Rewriter& rw, ir::OpId, const OpNode& node) {
  return rw.constant(node.operands[0]) == uint64_t{1} ? nothing() : kNoMatch;
}

// assert c 1 = assert c, assert c 0 = nothing
Replacement assert_mask(Rewriter& rw, ir::OpId, const OpNode& node) {
  auto mask = constant_mask(rw, node, 1);
  if (!mask) return kNoMatch;
  if (*mask) rw.make_op(Op::Assert, {node.operands[0]}, node.attrs, {});
  return nothing();
}

// hint c = c, and x = x where nothing is asserted
Replacement hint_of_nothing(Rewriter& rw, ir::OpId, const OpNode& node) {
  bool asserts = false;
  for (int64_t value : node.attrs.get_list("values")) asserts = asserts || value != 1;
  return !asserts || rw.constant(node.operands[0]) ? with(node.operands[0]) : kNoMatch;
}

constexpr Rule kRules[] = {
    {Op::Load, "load-mask", load_mask},           {Op::Load, "load-other-zero", load_other_zero},
    {Op::Store, "store-mask", store_mask},        {Op::AtomicRmw, "atomic-mask", atomic_mask},
    {Op::Assume, "assume-true", known_condition}, {Op::Assert, "assert-true", known_condition},
    {Op::Assert, "assert-mask", assert_mask},     {Op::Hint, "hint-of-nothing", hint_of_nothing},
};

}  // namespace

std::span<const Rule> memory_rules() {
  return kRules;
}

}  // namespace tilewright::passes
