// Builtins that change shapes.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

Value lower_broadcast(Lowering& lw, const Call& call) {
  Value a = lw.tensor_argument(call, 0), b = lw.tensor_argument(call, 1);
  if (!lw.broadcast_pair(a, b, call.span)) return Value::error();
  return Value::tuple({a, b});
}

Value lower_broadcast_to(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  auto shape = lw.constant_shape(call, 1);
  if (x.is_error() || !shape) return Value::error();
  if (x.type.is_tile() && x.type.shape.size() != shape->size())
    return lw.fail(DiagKind::kShapeMismatch, call.span,
                   fmt::format("tl.broadcast_to keeps the number of dimensions, but {} has {} and "
                               "{} has {}; add unit dimensions with [None, :]",
                               describe(x), x.type.rank(), shape_text(*shape), shape->size()));
  return lw.broadcast_to(x, *shape, call.span);
}

namespace {

Value reshape_to(Lowering& lw, const Value& x, const ir::Shape& shape, Span span) {
  ir::Type to = x.type.with_shape(shape);
  if (to.element_count() != x.type.element_count())
    return lw.fail(DiagKind::kShapeMismatch, span,
                   fmt::format("{} has {} elements and cannot become {} with {}", describe(x),
                               x.type.element_count(), shape_text(shape), to.element_count()));
  if (x.type.shape == shape) return x;
  if (x.type.is_scalar()) return lw.emit_value_as(Op::Splat, to, {x.id});
  if (shape.empty()) return lw.call_library("scalar_of", {x}, span);
  return lw.emit_value_as(Op::Reshape, to, {x.id});
}

}  // namespace

Value lower_reshape(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  auto shape = lw.constant_ints(call, 1);
  if (x.is_error() || !shape) return Value::error();
  // can_reorder and tl.view allow any order of the elements; row-major is one, and the same on
  // every backend.
  if (call.args.size() > 2 && !lw.constant_bool(call, 2)) return Value::error();
  // One extent of -1 follows from the others.
  int64_t known = 1;
  for (int64_t extent : *shape) known *= extent == -1 ? 1 : std::max<int64_t>(extent, 1);
  if (std::count(shape->begin(), shape->end(), -1) == 1 && x.type.element_count() % known == 0)
    std::replace(shape->begin(), shape->end(), int64_t{-1}, x.type.element_count() / known);
  if (!lw.check_shape(*shape, call.spans[1])) return Value::error();
  return reshape_to(lw, x, *shape, call.span);
}

Value lower_ravel(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error() || !lw.constant_bool(call, 1)) return Value::error();
  return reshape_to(lw, x, {x.type.element_count()}, call.span);
}

Value lower_expand_dims(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  auto axes = lw.constant_ints(call, 1);
  if (x.is_error() || !axes) return Value::error();
  int rank = x.type.rank() + static_cast<int>(axes->size());
  for (int64_t& axis : *axes) {
    if (axis < -rank || axis >= rank)
      return lw.fail(DiagKind::kShapeMismatch, call.spans[1],
                     fmt::format("axis {} is outside of {} to {}", axis, -rank, rank - 1));
    if (axis < 0) axis += rank;
  }
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end())
    return lw.fail(DiagKind::kBadArgument, call.spans[1], "an axis is named twice");
  ir::Shape shape = x.type.shape;
  for (int64_t axis : *axes) shape.insert(shape.begin() + axis, 1);
  if (!lw.check_shape(shape, call.span)) return Value::error();
  if (x.type.is_scalar()) return lw.broadcast_to(x, shape, call.span);
  for (int64_t axis : *axes) x = lw.emit_value(Op::ExpandDims, {x.id}, {{"axis", axis}});
  return x;
}

Value lower_squeeze(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  auto axis = lw.axis_argument(call, 1, x.type.rank());
  if (!axis) return Value::error();
  if (x.type.shape[static_cast<size_t>(*axis)] != 1)
    return lw.fail(
        DiagKind::kShapeMismatch, call.spans[1],
        fmt::format("dimension {} of {} is not 1 and cannot be removed", *axis, describe(x)));
  ir::Shape shape = x.type.shape;
  shape.erase(shape.begin() + *axis);
  return reshape_to(lw, x, shape, call.span);
}

namespace {

Value permute(Lowering& lw, const Value& x, std::vector<int64_t> order, const Call& call) {
  auto rank = static_cast<int64_t>(x.type.rank());
  for (int64_t& dim : order)
    if (dim < 0) dim += rank;
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool good = static_cast<int64_t>(sorted.size()) == rank;
  for (size_t i = 0; good && i < sorted.size(); ++i) good = sorted[i] == static_cast<int64_t>(i);
  if (!good)
    return lw.fail(
        DiagKind::kShapeMismatch, call.spans[1],
        fmt::format("the dimensions must be 0 to {} in some order for {}", rank - 1, describe(x)));
  return lw.emit_value(Op::Permute, {x.id}, {{"order", order}});
}

}  // namespace

Value lower_trans(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  auto order = lw.constant_ints(call, 1);
  if (!order) return Value::error();
  if (!order->empty()) return permute(lw, x, *order, call);
  int rank = x.type.rank();
  if (rank < 2)
    return lw.fail(DiagKind::kShapeMismatch, call.spans[0],
                   fmt::format("tl.trans needs 2 dimensions or more, but this is {}", describe(x)));
  for (int i = 0; i < rank; ++i) order->push_back(i);
  std::swap((*order)[static_cast<size_t>(rank) - 1], (*order)[static_cast<size_t>(rank) - 2]);
  return permute(lw, x, *order, call);
}

Value lower_permute(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  auto order = lw.constant_ints(call, 1);
  if (x.is_error() || !order) return Value::error();
  return permute(lw, x, *order, call);
}

namespace {

bool same_dtype(Lowering& lw, const Value& a, const Value& b, const Call& call) {
  if (a.type.element() == b.type.element()) return true;
  lw.fail(DiagKind::kTypeMismatch, call.span,
          fmt::format("'{}' needs operands of one dtype, but they are {} and {}", call.name,
                      describe(a), describe(b)));
  return false;
}

}  // namespace

Value lower_join(Lowering& lw, const Call& call) {
  Value a = lw.tensor_argument(call, 0), b = lw.tensor_argument(call, 1);
  if (a.is_error() || b.is_error() || !same_dtype(lw, a, b, call)) return Value::error();
  if (!lw.broadcast_pair(a, b, call.span)) return Value::error();
  ir::Shape shape = a.type.shape;
  shape.push_back(2);
  if (!lw.check_shape(shape, call.span)) return Value::error();
  return lw.emit_value(Op::Join, {a.id, b.id});
}

Value lower_split(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  if (x.type.is_scalar() || x.type.shape.back() != 2)
    return lw.fail(DiagKind::kShapeMismatch, call.spans[0],
                   fmt::format("tl.split takes a last dimension of 2 apart, but this is {}; "
                               "tl.reshape and tl.permute can make one",
                               describe(x)));
  ir::Shape shape = x.type.shape;
  shape.pop_back();
  ir::Type half = x.type.with_shape(shape);
  ir::OpId op = lw.builder.make_op(Op::Split, {x.id}, {}, {half, half});
  const auto& results = lw.module.op(op).results;
  return Value::tuple({lw.wrap(results[0]), lw.wrap(results[1])});
}

Value lower_cat(Lowering& lw, const Call& call) {
  Value a = lw.tensor_argument(call, 0), b = lw.tensor_argument(call, 1);
  if (a.is_error() || b.is_error() || !same_dtype(lw, a, b, call)) return Value::error();
  if (a.type.is_scalar() || a.type.shape != b.type.shape)
    return lw.fail(DiagKind::kShapeMismatch, call.span,
                   fmt::format("tl.cat needs two tiles of one shape, but they are {} and {}",
                               describe(a), describe(b)));
  auto axis = lw.axis_argument(call, 3, a.type.rank());
  if (!axis) return Value::error();
  ir::Shape shape = a.type.shape;
  shape[static_cast<size_t>(*axis)] *= 2;
  if (!lw.check_shape(shape, call.span)) return Value::error();
  return lw.emit_value(Op::Cat, {a.id, b.id}, {{"axis", *axis}});
}

Value lower_item(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error() || x.type.is_scalar()) return x;
  if (x.type.element_count() != 1)
    return lw.fail(
        DiagKind::kShapeMismatch, call.spans[0],
        fmt::format("only a tile of one element has an item, but this is {}", describe(x)));
  return lw.call_library("scalar_of", {x}, call.span);
}

}  // namespace tilewright::frontend
