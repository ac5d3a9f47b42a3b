// Sorting, as a network of reshapes, splits and joins on integer keys: each step works on the two
// halves that one bit of the index makes,
//
//   [outer, blocks, 2, width] -> split the 2 -> minimum, maximum -> join -> [outer, n]
//
// so no op of the IR is needed. Keys are all different where values are, so the result is the same
// to the bit on every backend.
#include <fmt/format.h>

#include "frontend/lower/combine.h"

namespace tilewright::frontend {

using ir::Op;

namespace {

Value reshape(Lowering& lw, const Value& x, const ir::Shape& shape) {
  if (x.type.shape == shape) return x;
  return lw.emit_value_as(Op::Reshape, x.type.with_shape(shape), {x.id});
}

Value permute(Lowering& lw, const Value& x, std::vector<int64_t> order) {
  return lw.emit_value(Op::Permute, {x.id}, {{"order", std::move(order)}});
}

struct Halves {
  Value low, high;
};

// Takes axis `axis` of extent 2 out of the shape.
Halves split_axis(Lowering& lw, const Value& x, int64_t axis) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < x.type.rank(); ++d)
    if (d != axis) order.push_back(d);
  order.push_back(axis);
  Value moved = axis + 1 == x.type.rank() ? x : permute(lw, x, order);
  ir::Shape shape = moved.type.shape;
  shape.pop_back();
  ir::Type half = moved.type.with_shape(shape);
  ir::OpId op = lw.builder.make_op(Op::Split, {moved.id}, {}, {half, half});
  return {lw.wrap(lw.module.op(op).results[0]), lw.wrap(lw.module.op(op).results[1])};
}

// The inverse of split_axis.
Value join_axis(Lowering& lw, const Halves& halves, int64_t axis) {
  Value joined = lw.emit_value(Op::Join, {halves.low.id, halves.high.id});
  int64_t rank = joined.type.rank();
  if (axis + 1 == rank) return joined;
  std::vector<int64_t> order;
  for (int64_t d = 0; d + 1 < rank; ++d) {
    if (d == axis) order.push_back(rank - 1);
    order.push_back(d);
  }
  return permute(lw, joined, order);
}

// ---- keys: signed integers that are in order as the values are ----

int64_t largest(Dtype key) {
  return static_cast<int64_t>(~uint64_t{0} >> (65 - dtype_bits(key)));
}

Value constant(Lowering& lw, const ir::Type& type, int64_t value) {
  return lw.wrap(lw.builder.constant_int(type, value));
}

// Negative floats the other way round: all bits but the sign.
Value fold_magnitude(Lowering& lw, const Value& bits) {
  const ir::Type& type = bits.type;
  Value sign = constant(lw, type, dtype_bits(type.dtype) - 1);
  Value negative = lw.emit_value(Op::Shr, {bits.id, sign.id});
  Value rest = constant(lw, type, largest(type.dtype));
  Value flips = lw.emit_value(Op::And, {negative.id, rest.id});
  return lw.emit_value(Op::Xor, {bits.id, flips.id});
}

Value keys_of(Lowering& lw, const Value& x) {
  const Dtype dtype = x.type.dtype;
  if (dtype == Dtype::kI1) return lw.cast(x, Dtype::kI8);
  if (is_int(dtype) && is_signed(dtype)) return x;
  const ir::Type type = x.type.with_dtype(*parse_dtype(fmt::format("i{}", dtype_bits(dtype))));
  Value bits = lw.emit_value_as(Op::Bitcast, type, {x.id});
  if (is_int(dtype)) {
    Value top = constant(lw, type, -largest(type.dtype) - 1);
    return lw.emit_value(Op::Xor, {bits.id, top.id});
  }
  // NaN comes last, whatever its sign.
  Value keys = fold_magnitude(lw, bits);
  Value number = is_fp8(dtype) ? lw.cast(x, Dtype::kF16) : x;
  Value nan = lw.emit_value(Op::Cmp, {number.id, number.id}, {{"pred", std::string("ne")}});
  return lw.emit_value(Op::Select, {nan.id, constant(lw, type, largest(type.dtype)).id, keys.id});
}

Value values_of(Lowering& lw, const Value& keys, Dtype dtype) {
  if (dtype == Dtype::kI1) return lw.cast(keys, dtype);
  if (is_int(dtype) && is_signed(dtype)) return keys;
  Value bits;
  if (is_int(dtype)) {
    Value top = constant(lw, keys.type, -largest(keys.type.dtype) - 1);
    bits = lw.emit_value(Op::Xor, {keys.id, top.id});
  } else {
    bits = fold_magnitude(lw, keys);
  }
  return lw.emit_value_as(Op::Bitcast, keys.type.with_dtype(dtype), {bits.id});
}

// ---- Batcher's bitonic network on [outer, n] ----

// Complements every other run of `size` elements, which turns its order round.
Value turn(Lowering& lw, const Value& x, int64_t size) {
  const int64_t outer = x.type.shape[0], n = x.type.shape[1], runs = n / size;
  if (runs == 1) return x;
  Value run = lw.emit_value(Op::Arange, {}, {{"start", int64_t{0}}, {"end", runs}});
  Value odd = lw.emit_value(Op::And, {run.id, constant(lw, run.type, 1).id});
  Value mask = lw.emit_value(Op::Neg, {lw.cast(odd, x.type.dtype).id});
  mask = lw.broadcast_to(reshape(lw, mask, {1, runs, 1}), {outer, runs, size}, lw.builder.span());
  Value view = reshape(lw, x, {outer, runs, size});
  return reshape(lw, lw.emit_value(Op::Xor, {view.id, mask.id}), {outer, n});
}

// Runs of `size` elements that rise and then fall (or the other way round) come to rise.
Value merge(Lowering& lw, Value x, int64_t size) {
  const int64_t outer = x.type.shape[0], n = x.type.shape[1];
  for (int64_t width = size / 2; width >= 1; width /= 2) {
    Halves halves = split_axis(lw, reshape(lw, x, {outer, n / (2 * width), 2, width}), 2);
    Halves ordered{lw.emit_value(Op::Min, {halves.low.id, halves.high.id}),
                   lw.emit_value(Op::Max, {halves.low.id, halves.high.id})};
    x = reshape(lw, join_axis(lw, ordered, 2), {outer, n});
  }
  return x;
}

// Runs of `size` elements in order, rising and falling in turns: falling ones are complemented
// while they are made, so that every step is the same everywhere.
Value sort_runs(Lowering& lw, Value x, int64_t size) {
  for (int64_t run = 2; run <= size; run *= 2) x = turn(lw, merge(lw, turn(lw, x, run), run), run);
  return x;
}

// The `kept` smallest of each row in order: of two runs of so many, one rising and one falling, the
// smaller ones of each pair are the smallest, and rise and fall.
Value smallest(Lowering& lw, const Value& rows, int64_t kept) {
  Value x = sort_runs(lw, rows, kept);
  while (x.type.shape[1] > kept) {
    const int64_t outer = x.type.shape[0], n = x.type.shape[1];
    Halves halves = split_axis(lw, reshape(lw, x, {outer, n / (2 * kept), 2, kept}), 2);
    x = reshape(lw, lw.emit_value(Op::Min, {halves.low.id, halves.high.id}), {outer, n / 2});
    x = turn(lw, merge(lw, turn(lw, x, kept), kept), kept);
  }
  return x;
}

// The first `kept` elements of each row in order.
Value ordered(Lowering& lw, const Value& x, int64_t kept, bool descending) {
  Value keys = keys_of(lw, x);
  if (descending) keys = lw.emit_value(Op::Not, {keys.id});
  keys = smallest(lw, keys, kept);
  if (descending) keys = lw.emit_value(Op::Not, {keys.id});
  return values_of(lw, keys, x.type.dtype);
}

// The tile as [outer, n] of its last dimension; only that one can be sorted.
std::optional<Value> sortable(Lowering& lw, const Call& call, size_t dim_index) {
  Value x = tile_argument(lw, call, call.args[0]);
  if (x.is_error()) return std::nullopt;
  if (!call.args[dim_index].is_none()) {
    auto axis = lw.axis_argument(call, dim_index, x.type.rank());
    if (!axis) return std::nullopt;
    if (*axis + 1 != x.type.rank()) {
      lw.fail(DiagKind::kBadArgument, call.spans[dim_index],
              fmt::format("'{}' works along the last dimension, {}; use tl.permute", call.name,
                          x.type.rank() - 1));
      return std::nullopt;
    }
  }
  int64_t n = x.type.shape.back();
  return reshape(lw, x, {x.type.element_count() / n, n});
}

}  // namespace

Value lower_sort(Lowering& lw, const Call& call) {
  auto rows = sortable(lw, call, 1);
  auto descending = lw.constant_bool(call, 2);
  if (!rows || !descending) return Value::error();
  return reshape(lw, ordered(lw, *rows, rows->type.shape[1], *descending), call.args[0].type.shape);
}

Value lower_topk(Lowering& lw, const Call& call) {
  auto rows = sortable(lw, call, 2);
  auto k = lw.constant_int(call, 1);
  auto descending = lw.constant_bool(call, 3);
  if (!rows || !k || !descending || !lw.check_shape({*k}, call.spans[1])) return Value::error();
  if (*k > rows->type.shape[1])
    return lw.fail(
        DiagKind::kShapeMismatch, call.spans[1],
        fmt::format("k is {}, but the last dimension has {} elements", *k, rows->type.shape[1]));
  ir::Shape shape = call.args[0].type.shape;
  shape.back() = *k;
  return reshape(lw, ordered(lw, *rows, *k, *descending), shape);
}

}  // namespace tilewright::frontend
