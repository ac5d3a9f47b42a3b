// Builtins that make values: program ids, ranges, filled tiles, casts, hints.
#include <fmt/format.h>

#include "frontend/lower/block_pointer.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

Value lower_program_id(Lowering& lw, const Call& call) {
  auto axis = lw.constant_int(call, 0);
  if (!axis) return Value::error();
  if (*axis < 0 || *axis > 2)
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("a grid has axes 0, 1 and 2, not {}", *axis));
  Op op = call.builtin->detail == "program_id" ? Op::ProgramId : Op::NumPrograms;
  return lw.emit_value(op, {}, {{"axis", *axis}});
}

Value lower_constexpr_of(Lowering& lw, const Call& call) {
  std::vector<ir::ValueId> parts;
  flatten(call.args[0], parts);
  if (parts.empty()) return call.args[0];
  return lw.not_constexpr(call, 0, "a compile-time value");
}

Value lower_to_tensor(Lowering& lw, const Call& call) {
  return lw.tensor_argument(call, 0);
}

Value lower_arange(Lowering& lw, const Call& call) {
  auto start = lw.constant_int(call, 0), end = lw.constant_int(call, 1);
  if (!start || !end) return Value::error();
  if (*start < INT32_MIN || *end > INT32_MAX)
    return lw.fail(DiagKind::kBadArgument, call.span,
                   fmt::format("tl.arange counts in int32, which does not hold {}",
                               *start < INT32_MIN ? *start : *end));
  if (*end <= *start)
    return lw.fail(
        DiagKind::kBadArgument, call.span,
        fmt::format("tl.arange needs start < end, but start is {} and end is {}", *start, *end));
  if (!lw.check_shape({*end - *start}, call.span)) return Value::error();
  return lw.emit_value(Op::Arange, {}, {{"start", *start}, {"end", *end}});
}

namespace {

// A tile (or a scalar, for an empty shape) that holds `value` as `dtype`.
Value filled(Lowering& lw, const ir::Shape& shape, const Value& value, Dtype dtype, Span span) {
  ir::Type type{dtype, false, shape};
  if (value.is_number()) return lw.constant_of(value.constant, type, span);
  Value scalar = lw.to_tensor(value, span, "value of a tile");
  if (scalar.is_error()) return scalar;
  if (scalar.type.is_tile()) {
    if (scalar.type.element_count() != 1)
      return lw.fail(DiagKind::kShapeMismatch, span,
                     fmt::format("a tile is filled with one value, but this is {}; use "
                                 "tl.broadcast_to",
                                 describe(scalar)));
    ir::Shape ones(shape.size(), 1);
    if (shape.empty()) ones = {1};
    Value reshaped = lw.emit_value_as(Op::Reshape, scalar.type.with_shape(ones), {scalar.id});
    reshaped = lw.cast(reshaped, dtype);
    return shape.empty() ? lw.call_library("scalar_of", {reshaped}, span)
                         : lw.broadcast_to(reshaped, shape, span);
  }
  if (scalar.type.is_pointer)
    return lw.fail(DiagKind::kBadArgument, span, "a tile cannot be filled with a pointer");
  return lw.broadcast_to(lw.cast(scalar, dtype), shape, span);
}

// The dtype of a tile to be made, which cannot be a pointer.
std::optional<Dtype> element_dtype(Lowering& lw, const Call& call, size_t index) {
  auto type = lw.type_argument(call, index);
  if (!type) return std::nullopt;
  if (!type->is_pointer) return type->dtype;
  lw.fail(DiagKind::kBadArgument, call.spans[index], "a tile cannot be made of pointers here");
  return std::nullopt;
}

}  // namespace

Value lower_full(Lowering& lw, const Call& call) {
  auto shape = lw.constant_shape(call, 0);
  auto dtype = element_dtype(lw, call, 2);
  if (!shape || !dtype) return Value::error();
  return filled(lw, *shape, call.args[1], *dtype, call.spans[1]);
}

Value lower_zeros(Lowering& lw, const Call& call) {
  auto shape = lw.constant_shape(call, 0);
  auto dtype = element_dtype(lw, call, 1);
  if (!shape || !dtype) return Value::error();
  return filled(lw, *shape, Value::integer(0), *dtype, call.span);
}

Value lower_zeros_like(Lowering& lw, const Call& call) {
  Value like = lw.tensor_argument(call, 0);
  if (like.is_error()) return like;
  if (like.type.is_pointer)
    return lw.fail(DiagKind::kBadArgument, call.spans[0], "tl.zeros_like cannot make pointers");
  return filled(lw, like.type.shape, Value::integer(0), like.type.dtype, call.span);
}

namespace {

Value bitcast(Lowering& lw, const Value& x, const ir::Type& type, const Call& call) {
  ir::Type to = type.with_shape(x.type.shape);
  if (x.type == to) return x;
  if (x.type.is_pointer || to.is_pointer) return lw.emit_value_as(Op::Cast, to, {x.id});
  if (x.type.element_bits() != to.element_bits())
    return lw.fail(DiagKind::kBadCast, call.span,
                   fmt::format("bitcast keeps the bits, but {} has {} and {} has {}",
                               type_text(x.type.element()), x.type.element_bits(), type_text(type),
                               to.element_bits()));
  return lw.emit_value_as(Op::Bitcast, to, {x.id});
}

}  // namespace

Value lower_cast(Lowering& lw, const Call& call) {
  auto type = lw.type_argument(call, 1);
  auto rounding = lw.constant_string(call, 2);
  auto is_bitcast = lw.constant_bool(call, 3);
  if (!type || !rounding || !is_bitcast) return Value::error();
  if (call.args[0].is_number() && !type->is_pointer && !*is_bitcast && rounding->empty())
    return convert_to(lw, call.args[0], type->dtype, call.spans[0]);
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  if (!rounding->empty() && *rounding != "rtne" && *rounding != "rtz")
    return lw.fail(DiagKind::kBadArgument, call.spans[2],
                   fmt::format("fp_downcast_rounding is 'rtne' or 'rtz', not '{}'", *rounding));
  if (*is_bitcast) return bitcast(lw, x, *type, call);
  ir::Type to = type->with_shape(x.type.shape);
  if (x.type == to) return x;
  bool pointers = x.type.is_pointer || to.is_pointer;
  bool narrows = !pointers && is_float(x.type.dtype) && is_float(to.dtype) &&
                 dtype_bits(to.dtype) < dtype_bits(x.type.dtype);
  if (!rounding->empty() && !narrows)
    return lw.fail(DiagKind::kBadArgument, call.spans[2],
                   fmt::format("fp_downcast_rounding is for casts to a narrower float, not for {} "
                               "to {}",
                               type_text(x.type.element()), type_text(*type)));
  if (pointers) {
    auto address = [](const ir::Type& t) {
      return t.is_pointer || t.dtype == Dtype::kI64 || t.dtype == Dtype::kU64;
    };
    if (x.type.is_pointer && !to.is_pointer && to.dtype == Dtype::kI1)
      return lw.wrap(lw.cast(x.id, Dtype::kI1));
    Value from = x;
    if (!x.type.is_pointer && is_int(x.type.dtype) && to.is_pointer)
      from = lw.cast(x, is_signed(x.type.dtype) ? Dtype::kI64 : Dtype::kU64);
    if (!address(from.type) || !address(to))
      return lw.fail(DiagKind::kBadCast, call.span,
                     fmt::format("{} cannot be cast to {}; pointers convert to and from 64-bit "
                                 "integers",
                                 type_text(x.type.element()), type_text(*type)));
    return lw.emit_value_as(Op::Cast, to, {from.id});
  }
  return lw.wrap(lw.cast(x.id, to.dtype, *rounding));
}

Value lower_hint(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  auto values = lw.constant_ints(call, 1);
  if (x.is_error() || !values) return Value::error();
  if (!x.type.is_pointer && !is_int(x.type.dtype))
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("'{}' describes integers and pointers, but this is {}", call.name,
                               describe(x)));
  size_t wanted = std::max<size_t>(1, x.type.shape.size());
  // One value for a tile of several dimensions is common in kernels; it speaks of each of them.
  if (values->size() == 1) values->resize(wanted, values->front());
  if (values->size() != wanted)
    return lw.fail(DiagKind::kShapeMismatch, call.spans[1],
                   fmt::format("'{}' takes one value a dimension, {} for {}, but has {}", call.name,
                               wanted, describe(x), values->size()));
  for (int64_t value : *values)
    if (value < 1)
      return lw.fail(DiagKind::kBadArgument, call.spans[1],
                     fmt::format("'{}' needs positive values, not {}", call.name, value));
  return lw.emit_value(Op::Hint, {x.id},
                       {{"kind", std::string(call.builtin->detail)}, {"values", *values}});
}

Value lower_assume(Lowering& lw, const Call& call) {
  auto condition = lw.condition(call.args[0], call.spans[0], "tl.assume");
  if (!condition.ok) return Value::error();
  if (!condition.constant) lw.builder.make_op(Op::Assume, {condition.value}, {}, {});
  return Value::none();
}

Value lower_debug_barrier(Lowering& lw, const Call&) {
  lw.builder.make_op(Op::Barrier, {}, {}, {});
  return Value::none();
}

}  // namespace tilewright::frontend
