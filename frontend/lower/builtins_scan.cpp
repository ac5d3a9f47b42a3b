// Scans, sorting, gather and histogram, as networks of reshapes, splits and joins: each step works
// on the two halves that one bit of the index makes,
//
//   [outer, blocks, 2, width, inner] -> split the 2 -> combine -> join -> [outer, n, inner]
//
// so no op of the IR is needed and the order of combination is fixed: results are the same to the
// bit on every backend.
#include <fmt/format.h>

#include <bit>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using dsl::Operator;
using ir::Op;
using Kind = Value::Kind;

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

// A tile seen as [outer, n, inner] around one axis.
struct Around {
  int64_t outer = 1, n = 1, inner = 1;
};

Around around(const ir::Shape& shape, int64_t axis) {
  Around out;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    (d < axis ? out.outer : d == axis ? out.n : out.inner) *= shape[static_cast<size_t>(d)];
  return out;
}

using Combine =
    std::function<std::optional<std::vector<Value>>(std::vector<Value>, std::vector<Value>)>;

// Sklansky's scan: after the step of width w, every block of 2w elements holds its prefixes. The
// upper half of a block takes the total of the lower one; the other way round in reverse.
std::optional<std::vector<Value>> scan(Lowering& lw, const std::vector<Value>& inputs, int64_t axis,
                                       bool reverse, const Combine& combine) {
  const ir::Shape shape = inputs[0].type.shape;
  Around view = around(shape, axis);
  std::vector<Value> prefixes = inputs, totals;
  for (const Value& x : inputs) totals.push_back(reshape(lw, x, {view.outer, view.n, view.inner}));
  for (int64_t width = 1; width < view.n; width *= 2) {
    int64_t blocks = view.n / (2 * width);
    std::vector<Value> low, high, low_total, high_total, carried;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Halves parts =
          split_axis(lw, reshape(lw, prefixes[i], {view.outer, blocks, 2, width, view.inner}), 2);
      Halves sums = split_axis(lw, reshape(lw, totals[i], {view.outer, blocks, 2, view.inner}), 2);
      low.push_back(reverse ? parts.high : parts.low);
      high.push_back(reverse ? parts.low : parts.high);
      low_total.push_back(reverse ? sums.high : sums.low);
      high_total.push_back(reverse ? sums.low : sums.high);
      Value wide = lw.emit_value(Op::ExpandDims, {low_total[i].id}, {{"axis", int64_t{2}}});
      carried.push_back(lw.broadcast_to(wide, low[i].type.shape, lw.builder.span()));
    }
    auto moved = combine(carried, high);
    if (!moved) return std::nullopt;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Halves parts{reverse ? (*moved)[i] : low[i], reverse ? low[i] : (*moved)[i]};
      prefixes[i] = join_axis(lw, parts, 2);
    }
    if (blocks == 1) break;
    auto sums = combine(low_total, high_total);
    if (!sums) return std::nullopt;
    totals = std::move(*sums);
  }
  for (Value& x : prefixes) x = reshape(lw, x, shape);
  return prefixes;
}

Value tile_argument(Lowering& lw, const Call& call, const Value& value) {
  Value x = lw.to_tensor(value, call.spans[0], "input");
  if (x.is_error() || (x.type.is_tile() && !x.type.is_pointer)) return x;
  return lw.fail(DiagKind::kShapeMismatch, call.spans[0],
                 fmt::format("'{}' needs a tile, but this is {}", call.name, describe(x)));
}

}  // namespace

Value lower_cumulative(Lowering& lw, const Call& call) {
  Value x = tile_argument(lw, call, call.args[0]);
  auto reverse = lw.constant_bool(call, 2);
  if (x.is_error() || !reverse) return Value::error();
  auto axis = lw.axis_argument(call, 1, x.type.rank());
  if (!axis) return Value::error();
  bool is_sum = call.builtin->detail == "+";
  Dtype dtype = x.type.dtype;
  if (is_sum && !call.args[3].is_none()) {
    auto type = lw.type_argument(call, 3);
    if (!type) return Value::error();
    if (type->is_pointer) return lw.not_constexpr(call, 3, "a dtype of numbers");
    dtype = type->dtype;
  } else if (dtype == Dtype::kBF16) {
    dtype = Dtype::kF32;
  } else if (is_sum && is_int(dtype) && dtype_bits(dtype) < 32) {
    dtype = is_signed(dtype) ? Dtype::kI32 : Dtype::kU32;
  }
  x = lw.cast(x, dtype);
  Operator op = is_sum ? Operator::kAdd : Operator::kMul;
  auto results =
      scan(lw, {x}, *axis, *reverse, [&](const std::vector<Value>& a, const std::vector<Value>& b) {
        Value sum = lw.binary(op, a[0], b[0], call.span, call.span, call.span);
        return sum.is_error() ? std::nullopt : std::optional(std::vector<Value>{sum});
      });
  return results ? (*results)[0] : Value::error();
}

Value lower_associative_scan(Lowering& lw, const Call& call) {
  const Value& function = call.args[2];
  auto reverse = lw.constant_bool(call, 3);
  if (!reverse) return Value::error();
  if (function.kind != Kind::kFunction && function.kind != Kind::kBuiltin)
    return lw.not_constexpr(call, 2, "a jit function of two elements");
  bool single = call.args[0].kind != Kind::kTuple;
  std::vector<Value> inputs = single ? std::vector<Value>{call.args[0]} : call.args[0].elements;
  if (inputs.empty()) return lw.not_constexpr(call, 0, "a tensor or a tuple of them");
  for (Value& x : inputs) {
    x = tile_argument(lw, call, x);
    if (x.is_error()) return x;
    if (x.type.shape != inputs[0].type.shape)
      return lw.fail(DiagKind::kShapeMismatch, call.spans[0],
                     fmt::format("all inputs of a scan have one shape, but they are {} and {}",
                                 describe(inputs[0]), describe(x)));
  }
  auto axis = lw.axis_argument(call, 1, inputs[0].type.rank());
  if (!axis) return Value::error();
  auto results = scan(
      lw, inputs, *axis, *reverse,
      [&](const std::vector<Value>& a,
          const std::vector<Value>& b) -> std::optional<std::vector<Value>> {
        CallArguments arguments;
        for (const auto* side : {&a, &b})
          for (const Value& x : *side) arguments.positional.push_back({x, call.spans[2]});
        Value result = lw.call(function, std::move(arguments), call.spans[2], "combine function");
        if (result.is_error()) return std::nullopt;
        std::vector<Value> out = single ? std::vector<Value>{result} : result.elements;
        bool good = out.size() == a.size();
        for (size_t i = 0; good && i < out.size(); ++i)
          good = out[i].is_tensor() && out[i].type == a[i].type;
        if (good) return out;
        lw.fail(
            DiagKind::kTypeMismatch, call.spans[2],
            fmt::format("the combine function must return the types it combines, but returns {}",
                        describe(result)));
        return std::nullopt;
      });
  if (!results) return Value::error();
  return single ? (*results)[0] : Value::tuple(*results);
}

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

namespace {

// arange(count) against `index` on a new last dimension: int1 [..., count].
Value one_hot(Lowering& lw, const Value& index, int64_t count) {
  ir::Shape shape = index.type.shape;
  Value wide =
      lw.emit_value(Op::ExpandDims, {index.id}, {{"axis", static_cast<int64_t>(shape.size())}});
  shape.push_back(count);
  wide = lw.broadcast_to(wide, shape, lw.builder.span());
  Value numbers = lw.emit_value(Op::Arange, {}, {{"start", int64_t{0}}, {"end", count}});
  numbers = lw.broadcast_to(lw.cast(numbers, index.type.dtype), shape, lw.builder.span());
  return lw.emit_value(Op::Cmp, {wide.id, numbers.id}, {{"pred", std::string("eq")}});
}

Value reduce_last(Lowering& lw, const Value& x, Op op, Span span) {
  ir::RegionId region = lw.module.add_region({});
  ir::ValueId a = lw.module.add_region_arg(region, x.type.element());
  ir::ValueId b = lw.module.add_region_arg(region, x.type.element());
  lw.in_region(region, [&] { lw.builder.yield({lw.emit(op, {a, b})}); });
  ir::Shape shape = x.type.shape;
  int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  shape.pop_back();
  return lw.wrap(lw.attach(Op::Reduce, {x.id}, {{"axis", axis}}, {x.type.with_shape(shape)},
                           {region}, span)[0]);
}

bool check_one_hot(Lowering& lw, const Call& call, const ir::Shape& shape, int64_t count) {
  int64_t elements = count;
  for (int64_t extent : shape) elements *= extent;
  if (elements <= int64_t{1} << 20 && shape.size() < 5) return true;
  lw.fail(DiagKind::kTileTooLarge, call.span,
          fmt::format("'{}' compares every index with every position, {} by {} here; at most 2^20 "
                      "comparisons are allowed",
                      call.name, elements / count, count));
  return false;
}

}  // namespace

Value lower_histogram(Lowering& lw, const Call& call) {
  Value x = tile_argument(lw, call, call.args[0]);
  auto bins = lw.constant_int(call, 1);
  if (x.is_error() || !bins || !lw.check_shape({*bins}, call.spans[1])) return Value::error();
  if (x.type.rank() != 1 || !is_int(x.type.dtype))
    return lw.fail(
        DiagKind::kBadOperand, call.spans[0],
        fmt::format("tl.histogram counts a vector of integers, but this is {}", describe(x)));
  if (!check_one_hot(lw, call, x.type.shape, *bins)) return Value::error();
  // Counts come out along the first dimension, so the bins are the rows.
  if (dtype_bits(x.type.dtype) < 32) x = lw.cast(x, Dtype::kI32);
  Value hits = one_hot(lw, x, *bins);
  if (!call.args[2].is_none()) {
    Value mask = lw.tensor_argument(call, 2);
    if (mask.is_error()) return mask;
    mask = lw.broadcast_to(lw.cast(mask, Dtype::kI1), x.type.shape, call.spans[2]);
    if (mask.is_error()) return mask;
    mask = lw.emit_value(Op::ExpandDims, {mask.id}, {{"axis", int64_t{1}}});
    mask = lw.broadcast_to(mask, hits.type.shape, call.span);
    hits = lw.emit_value(Op::And, {hits.id, mask.id});
  }
  return reduce_last(lw, permute(lw, lw.cast(hits, Dtype::kI32), {1, 0}), Op::Add, call.span);
}

Value lower_gather(Lowering& lw, const Call& call) {
  Value src = tile_argument(lw, call, call.args[0]), index = lw.tensor_argument(call, 1);
  if (src.is_error() || index.is_error()) return Value::error();
  auto axis = lw.axis_argument(call, 2, src.type.rank());
  if (!axis) return Value::error();
  ir::Shape expected = src.type.shape;
  auto at = static_cast<size_t>(*axis);
  if (index.type.shape.size() == expected.size()) expected[at] = index.type.shape[at];
  if (index.type.is_pointer || !is_int(index.type.dtype) || index.type.shape != expected)
    return lw.fail(
        DiagKind::kShapeMismatch, call.spans[1],
        fmt::format("the index of tl.gather is a tile of integers that differs from {} in "
                    "dimension {} only, but is {}",
                    describe(src), *axis, describe(index)));
  int64_t n = src.type.shape[at];
  if (!check_one_hot(lw, call, index.type.shape, n)) return Value::error();
  if (dtype_bits(index.type.dtype) < 32) index = lw.cast(index, Dtype::kI32);
  Value hits = one_hot(lw, index, n);
  // The source with its axis moved to the end and stretched over the index's axis.
  std::vector<int64_t> order;
  for (int64_t d = 0; d < src.type.rank(); ++d)
    if (d != *axis) order.push_back(d);
  order.push_back(*axis);
  Value values = src.type.rank() > 1 ? permute(lw, src, order) : src;
  values = lw.emit_value(Op::ExpandDims, {values.id}, {{"axis", *axis}});
  values = lw.broadcast_to(values, hits.type.shape, call.span);
  // Selected by bits, so that -0.0 and NaN come through.
  const ir::Type element = values.type;
  Dtype image = element.dtype;
  if (is_float(image)) {
    image = *parse_dtype(fmt::format("u{}", dtype_bits(image)));
    values = lw.emit_value_as(Op::Bitcast, element.with_dtype(image), {values.id});
  }
  Value zero = lw.wrap(lw.builder.constant_int(values.type, 0));
  Value chosen = lw.emit_value(Op::Select, {hits.id, values.id, zero.id});
  Value out = reduce_last(lw, chosen, Op::Or, call.span);
  if (image == element.dtype) return out;
  return lw.emit_value_as(Op::Bitcast, out.type.with_dtype(element.dtype), {out.id});
}

}  // namespace tilewright::frontend
