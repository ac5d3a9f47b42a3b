#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::Type;
using ir::ValueId;

// shape(c) = c and shape(splat x) = splat x, in the result's shape, for every op that only moves
// elements
Replacement move_uniform(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type result = rw.type(node.results[0]);
  for (ValueId operand : node.operands)
    if (operand != node.operands[0]) return kNoMatch;
  if (auto bits = rw.constant(node.operands[0])) return with(rw.make_constant(result, *bits));
  ValueId x = operand_of(rw, node.operands[0], Op::Splat);
  return x.valid() ? with(rw.make_as(Op::Splat, result, {x})) : kNoMatch;
}

// arange {start=s, end=s+1} = c
Replacement arange_of_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type result = rw.type(node.results[0]);
  if (result.shape[0] != 1) return kNoMatch;
  return with(rw.make_constant(result, int_to_bits(node.attrs.get_int("start"), result.dtype)));
}

// broadcast x : T = x and reshape x : T = x for x : T
Replacement same_shape(Rewriter& rw, ir::OpId, const OpNode& node) {
  return rw.type(node.operands[0]) == rw.type(node.results[0]) ? with(node.operands[0]) : kNoMatch;
}

// broadcast broadcast x = broadcast x
Replacement broadcast_of_broadcast(Rewriter& rw, ir::OpId, const OpNode& node) {
  ValueId x = operand_of(rw, node.operands[0], Op::Broadcast);
  const Type result = rw.type(node.results[0]);
  return x.valid() ? with(rw.make_as(Op::Broadcast, result, {x})) : kNoMatch;
}

// reshape reshape x = reshape x, reshape expand_dims x = reshape x
Replacement reshape_of_reshape(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type result = rw.type(node.results[0]);
  const OpNode* inner = rw.def_as(node.operands[0], Op::Reshape);
  bool reorder = node.attrs.get_int("reorder") == 1;
  if (inner) {
    reorder = reorder || inner->attrs.get_int("reorder") == 1;
  } else {
    inner = rw.def_as(node.operands[0], Op::ExpandDims);
  }
  if (inner == nullptr) return kNoMatch;
  ValueId x = rw.resolve(inner->operands[0]);
  // A scalar has no reshape; the splat of it is a uniform tile and has gone already.
  if (rw.type(x).is_scalar()) return with(rw.make_as(Op::Splat, result, {x}));
  ir::Attrs attrs;
  if (reorder) attrs.set("reorder", int64_t{1});
  return with(rw.make_as(Op::Reshape, result, {x}, std::move(attrs)));
}

// expand_dims x = splat x for a scalar
Replacement expand_scalar(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type result = rw.type(node.results[0]);
  return rw.type(node.operands[0]).is_scalar()
             ? with(rw.make_as(Op::Splat, result, {node.operands[0]}))
             : kNoMatch;
}

// permute x = x in the identity's order; permute permute x = permute x
Replacement permute_compose(Rewriter& rw, ir::OpId, const OpNode& node) {
  std::vector<int64_t> order = node.attrs.get_list("order");
  bool is_identity = true;
  for (size_t i = 0; i < order.size(); ++i)
    is_identity = is_identity && order[i] == static_cast<int64_t>(i);
  if (is_identity) return with(node.operands[0]);
  const OpNode* inner = rw.def_as(node.operands[0], Op::Permute);
  if (inner == nullptr) return kNoMatch;
  std::vector<int64_t> first = inner->attrs.get_list("order");
  for (int64_t& dim : order) dim = first[static_cast<size_t>(dim)];
  ValueId x = rw.resolve(inner->operands[0]);
  return with(rw.make(Op::Permute, {x}, {{"order", std::move(order)}}));
}

// split (join a b) = a, b
Replacement split_of_join(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* join = rw.def_as(node.operands[0], Op::Join);
  if (join == nullptr) return kNoMatch;
  return std::vector{rw.resolve(join->operands[0]), rw.resolve(join->operands[1])};
}

// split c = c, c and split (splat x) = splat x, splat x
Replacement split_uniform(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type half = rw.type(node.results[0]);
  ValueId piece;
  if (auto bits = rw.constant(node.operands[0])) {
    piece = rw.make_constant(half, *bits);
  } else if (ValueId x = operand_of(rw, node.operands[0], Op::Splat); x.valid()) {
    piece = half.is_scalar() ? x : rw.make_as(Op::Splat, half, {x});
  }
  if (!piece.valid()) return kNoMatch;
  return std::vector{piece, piece};
}

// join (split x).0 (split x).1 = x
Replacement join_of_split(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* split = rw.def_as(node.operands[0], Op::Split);
  if (split == nullptr || rw.def_as(node.operands[1], Op::Split) != split) return kNoMatch;
  if (node.operands[0] != split->results[0] || node.operands[1] != split->results[1])
    return kNoMatch;
  return with(rw.resolve(split->operands[0]));
}

// reduce x… = reshape x… along an axis of one element, where a tile is left
Replacement reduce_of_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type& type = rw.type(node.operands[0]);
  if (type.rank() < 2 || type.shape[static_cast<size_t>(node.attrs.get_int("axis"))] != 1)
    return kNoMatch;
  std::vector<ValueId> results;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    Type result = rw.type(node.results[i]);
    results.push_back(rw.make_as(Op::Reshape, std::move(result), {node.operands[i]}));
  }
  return results;
}

// scan x… = x… along an axis of one element
Replacement scan_of_one(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type& type = rw.type(node.operands[0]);
  if (type.shape[static_cast<size_t>(node.attrs.get_int("axis"))] != 1) return kNoMatch;
  return node.operands;
}

constexpr Rule kRules[] = {
    {Op::Arange, "arange-of-one", arange_of_one},
    {Op::Splat, "splat-constant", move_uniform},
    {Op::Broadcast, "broadcast-uniform", move_uniform},
    {Op::Broadcast, "broadcast-same", same_shape},
    {Op::Broadcast, "broadcast-broadcast", broadcast_of_broadcast},
    {Op::ExpandDims, "expand_dims-uniform", move_uniform},
    {Op::ExpandDims, "expand_dims-scalar", expand_scalar},
    {Op::Reshape, "reshape-uniform", move_uniform},
    {Op::Reshape, "reshape-same", same_shape},
    {Op::Reshape, "reshape-reshape", reshape_of_reshape},
    {Op::Permute, "permute-uniform", move_uniform},
    {Op::Permute, "permute-compose", permute_compose},
    {Op::Join, "join-uniform", move_uniform},
    {Op::Cat, "cat-uniform", move_uniform},
    {Op::Split, "split-uniform", split_uniform},
    {Op::Split, "split-join", split_of_join},
    {Op::Join, "join-split", join_of_split},
    {Op::Reduce, "reduce-of-one", reduce_of_one},
    {Op::Scan, "scan-of-one", scan_of_one},
};

}  // namespace

std::span<const Rule> shape_rules() {
  return kRules;
}

}  // namespace tilewright::passes
