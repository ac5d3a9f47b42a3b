// Sorting, as a network of reshapes, splits and joins: each step works on the two halves that one
// bit of the index makes,
//
//   [outer, blocks, 2, width] -> split the 2 -> order -> join -> [outer, n]
//
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

}  // namespace

namespace {

// Whether a comes after b; NaN after every number.
Value comes_after(Lowering& lw, const Value& a, const Value& b) {
  auto compare = [&](const Value& x, const Value& y, const char* predicate) {
    return lw.emit_value(Op::Cmp, {x.id, y.id}, {{"pred", std::string(predicate)}});
  };
  Value greater = compare(a, b, "gt");
  if (!is_float(a.type.dtype)) return greater;
  Value nan = compare(a, a, "ne"), number = compare(b, b, "eq");
  Value nan_last = lw.emit_value(Op::And, {nan.id, number.id});
  return lw.emit_value(Op::Or, {greater.id, nan_last.id});
}

// Batcher's bitonic network on the last dimension of [outer, n].
Value sort_rows(Lowering& lw, Value x, bool descending) {
  int64_t outer = x.type.shape[0], n = x.type.shape[1];
  for (int64_t size = 2; size <= n; size *= 2) {
    for (int64_t width = size / 2; width >= 1; width /= 2) {
      int64_t blocks = n / (2 * width);
      Halves halves = split_axis(lw, reshape(lw, x, {outer, blocks, 2, width}), 2);
      Value swap = comes_after(lw, halves.low, halves.high);
      // Runs of `size` elements alternate in direction, except in the last round.
      bool last = size == n;
      if (last && descending) {
        swap = comes_after(lw, halves.high, halves.low);
      } else if (!last) {
        Value block = lw.emit_value(Op::Arange, {}, {{"start", int64_t{0}}, {"end", blocks}});
        Value bit = lw.wrap(lw.builder.constant_int(block.type, size / (2 * width)));
        Value odd = lw.cast(lw.emit_value(Op::And, {block.id, bit.id}), Dtype::kI1);
        odd = reshape(lw, odd, {1, blocks, 1});
        odd = lw.broadcast_to(odd, swap.type.shape, lw.builder.span());
        Value down = comes_after(lw, halves.high, halves.low);
        swap = lw.emit_value(Op::Select, {odd.id, down.id, swap.id});
      }
      Halves ordered{lw.emit_value(Op::Select, {swap.id, halves.high.id, halves.low.id}),
                     lw.emit_value(Op::Select, {swap.id, halves.low.id, halves.high.id})};
      x = reshape(lw, join_axis(lw, ordered, 2), {outer, n});
    }
  }
  return x;
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

// Comparisons need floats of 16 bits or more.
Value sorted(Lowering& lw, const Value& x, bool descending) {
  Dtype dtype = x.type.dtype;
  if (!is_fp8(dtype)) return sort_rows(lw, x, descending);
  return lw.cast(sort_rows(lw, lw.cast(x, Dtype::kF16), descending), dtype);
}

}  // namespace

Value lower_sort(Lowering& lw, const Call& call) {
  auto rows = sortable(lw, call, 1);
  auto descending = lw.constant_bool(call, 2);
  if (!rows || !descending) return Value::error();
  return reshape(lw, sorted(lw, *rows, *descending), call.args[0].type.shape);
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
  Value x = sorted(lw, *rows, *descending);
  while (x.type.shape[1] > *k) {
    Halves halves = split_axis(lw, reshape(lw, x, {x.type.shape[0], 2, x.type.shape[1] / 2}), 1);
    x = halves.low;
  }
  ir::Shape shape = call.args[0].type.shape;
  shape.back() = *k;
  return reshape(lw, x, shape);
}

}  // namespace tilewright::frontend
