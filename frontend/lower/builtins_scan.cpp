// Scans, gather and histogram.
#include <fmt/format.h>

#include "frontend/lower/combine.h"

namespace tilewright::frontend {

using dsl::Operator;
using ir::Op;
using Kind = Value::Kind;

namespace {

std::optional<std::vector<Value>> scan(Lowering& lw, const std::vector<Value>& inputs, int64_t axis,
                                       bool reverse, const Combine& combine, Span span) {
  ir::Attrs attrs{{"axis", axis}};
  if (reverse) attrs.set("reverse", int64_t{1});
  std::vector<ir::Type> types;
  for (const Value& x : inputs) types.push_back(x.type);
  return emit_combining(lw, Op::Scan, std::move(attrs), inputs, types, combine, span);
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
  // FP8 has no arithmetic of its own.
  const Dtype sum_dtype = is_fp8(dtype) ? Dtype::kF32 : dtype;
  x = lw.cast(x, sum_dtype);
  Operator op = is_sum ? Operator::kAdd : Operator::kMul;
  auto results = scan(
      lw, {x}, *axis, *reverse,
      [&](const Ids& a, const Ids& b) -> std::optional<Ids> {
        Value both = lw.binary(op, lw.wrap(a[0]), lw.wrap(b[0]), call.span, call.span, call.span);
        return both.is_error() ? std::nullopt : std::optional(Ids{both.id});
      },
      call.span);
  return results ? lw.cast((*results)[0], dtype) : Value::error();
}

Value lower_associative_scan(Lowering& lw, const Call& call) {
  const Value& function = call.args[2];
  auto reverse = lw.constant_bool(call, 3);
  if (!reverse) return Value::error();
  if (function.kind != Kind::kFunction && function.kind != Kind::kBuiltin)
    return lw.not_constexpr(call, 2, "a jit function of two elements");
  bool single = call.args[0].kind != Kind::kTuple;
  auto inputs = combined_inputs(lw, call, "a scan");
  if (!inputs) return Value::error();
  for (Value& x : *inputs) {
    x = tile_argument(lw, call, x);
    if (x.is_error()) return x;
  }
  auto axis = lw.axis_argument(call, 1, (*inputs)[0].type.rank());
  if (!axis) return Value::error();
  auto results = scan(
      lw, *inputs, *axis, *reverse,
      [&](const Ids& a, const Ids& b) { return call_combine(lw, call, function, a, b); },
      call.span);
  if (!results) return Value::error();
  return single ? (*results)[0] : Value::tuple(*results);
}

Value lower_histogram(Lowering& lw, const Call& call) {
  Value x = tile_argument(lw, call, call.args[0]);
  auto bins = lw.constant_int(call, 1);
  if (x.is_error() || !bins || !lw.check_shape({*bins}, call.spans[1])) return Value::error();
  if (x.type.rank() != 1 || !is_int(x.type.dtype))
    return lw.fail(
        DiagKind::kBadOperand, call.spans[0],
        fmt::format("tl.histogram counts a vector of integers, but this is {}", describe(x)));
  if (x.type.dtype == Dtype::kI1) x = lw.cast(x, Dtype::kI32);
  std::vector<ir::ValueId> operands = {x.id};
  if (!call.args[2].is_none()) {
    Value mask = lw.tensor_argument(call, 2);
    if (mask.is_error()) return mask;
    mask = lw.broadcast_to(lw.cast(mask, Dtype::kI1), x.type.shape, call.spans[2]);
    if (mask.is_error()) return mask;
    operands.push_back(mask.id);
  }
  return lw.emit_value(Op::Histogram, operands, {{"bins", *bins}});
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
  if (index.type.dtype == Dtype::kI1) index = lw.cast(index, Dtype::kI32);
  return lw.emit_value(Op::Gather, {src.id, index.id}, {{"axis", *axis}});
}

}  // namespace tilewright::frontend
