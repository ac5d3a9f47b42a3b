// Reductions: sum, max, min and their index forms, and folds with a function of the program.
#include <fmt/format.h>

#include "frontend/lower/combine.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

namespace {

struct Operands {
  bool ok = false;
  std::vector<Value> tensors;  // of one shape
  int64_t axis = 0;
  int rank = 0;  // before flattening
  bool flattened = false;
  bool scalar = false;  // nothing to reduce
};

// Checks the axis and flattens for axis=None.
Operands prepare(Lowering& lw, const Call& call, std::vector<Value> tensors, size_t axis_index) {
  Operands out;
  const ir::Shape shape = tensors[0].type.shape;
  out.rank = static_cast<int>(shape.size());
  out.flattened = call.args[axis_index].is_none();
  out.scalar = out.flattened && shape.empty();
  if (!out.flattened) {
    auto axis = lw.axis_argument(call, axis_index, out.rank);
    if (!axis) return out;
    out.axis = *axis;
  } else if (shape.size() > 1) {
    for (Value& x : tensors)
      x = lw.emit_value_as(Op::Reshape, x.type.with_shape({x.type.element_count()}), {x.id},
                           {{"reorder", int64_t{1}}});
  }
  out.tensors = std::move(tensors);
  out.ok = true;
  return out;
}

Value keep_dims(Lowering& lw, const Value& result, const Operands& operands, Span span) {
  if (operands.scalar) return result;
  if (result.type.is_scalar())
    return lw.broadcast_to(result, ir::Shape(static_cast<size_t>(operands.rank), 1), span);
  return lw.emit_value(Op::ExpandDims, {result.id}, {{"axis", operands.axis}});
}

std::optional<std::vector<Value>> fold(Lowering& lw, const Operands& operands,
                                       const Combine& combine, bool keep, Span span) {
  std::vector<Value> results = operands.tensors;
  if (!operands.scalar) {
    std::vector<ir::Type> types;
    for (const Value& x : operands.tensors) {
      ir::Shape shape = x.type.shape;
      shape.erase(shape.begin() + operands.axis);
      types.push_back(x.type.with_shape(shape));
    }
    auto folded = emit_combining(lw, Op::Reduce, {{"axis", operands.axis}}, operands.tensors, types,
                                 combine, span);
    if (!folded) return std::nullopt;
    results = std::move(*folded);
  }
  if (keep)
    for (Value& result : results) result = keep_dims(lw, result, operands, span);
  return results;
}

Value fold_with_op(Lowering& lw, const Call& call, const Value& x, size_t axis_index, bool keep,
                   Op op) {
  Operands operands = prepare(lw, call, {x}, axis_index);
  if (!operands.ok) return Value::error();
  auto results = fold(
      lw, operands,
      [&](const Ids& a, const Ids& b) -> std::optional<Ids> {
        return Ids{lw.emit(op, {a[0], b[0]})};
      },
      keep, call.span);
  return results ? (*results)[0] : Value::error();
}

Value reducible(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error() || !x.type.is_pointer) return x;
  return lw.fail(DiagKind::kBadOperand, call.spans[0],
                 fmt::format("'{}' is not defined for {}", call.name, describe(x)));
}

// Runs a library function on scalars inside a region.
std::optional<Ids> combine_in_library(Lowering& lw, std::string_view function, const Ids& a,
                                      const Ids& b, Span span) {
  std::vector<Value> arguments;
  for (ir::ValueId id : a) arguments.push_back(lw.wrap(id));
  for (ir::ValueId id : b) arguments.push_back(lw.wrap(id));
  Value result = lw.call_library(function, std::move(arguments), span);
  if (result.is_error()) return std::nullopt;
  Ids out;
  flatten(result, out);
  return out;
}

// The extreme value and its index; ties take the smaller index, NaN loses against a number.
std::optional<std::vector<Value>> fold_with_index(Lowering& lw, const Call& call, Value x,
                                                  size_t axis_index, bool keep) {
  if (x.type.dtype == Dtype::kBF16 || is_fp8(x.type.dtype)) x = lw.cast(x, Dtype::kF32);
  Operands operands = prepare(lw, call, {x}, axis_index);
  if (!operands.ok) return std::nullopt;
  if (operands.scalar) return std::vector<Value>{x, lw.to_tensor(Value::integer(0), call.span)};
  const ir::Shape& shape = operands.tensors[0].type.shape;
  auto axis = static_cast<size_t>(operands.axis);
  Value index = lw.emit_value(Op::Arange, {}, {{"start", int64_t{0}}, {"end", shape[axis]}});
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != axis)
      index = lw.emit_value(Op::ExpandDims, {index.id}, {{"axis", static_cast<int64_t>(d)}});
  operands.tensors.push_back(lw.broadcast_to(index, shape, call.span));
  std::string function = call.builtin->detail == "max" ? "argmax_combine" : "argmin_combine";
  if (is_float(x.type.dtype)) function += "_float";
  return fold(
      lw, operands,
      [&](const Ids& a, const Ids& b) { return combine_in_library(lw, function, a, b, call.span); },
      keep, call.span);
}

}  // namespace

Value lower_sum(Lowering& lw, const Call& call) {
  Value x = reducible(lw, call);
  auto keep = lw.constant_bool(call, 2);
  if (x.is_error() || !keep) return Value::error();
  if (!call.args[3].is_none()) {
    auto type = lw.type_argument(call, 3);
    if (!type) return Value::error();
    if (type->is_pointer) return lw.not_constexpr(call, 3, "a dtype of numbers");
    x = lw.cast(x, type->dtype);
  } else if (is_int(x.type.dtype) && dtype_bits(x.type.dtype) < 32) {
    x = lw.cast(x, is_signed(x.type.dtype) ? Dtype::kI32 : Dtype::kU32);
  }
  if (!is_fp8(x.type.dtype)) return fold_with_op(lw, call, x, 1, *keep, Op::Add);
  Dtype dtype = x.type.dtype;
  return lw.cast(fold_with_op(lw, call, lw.cast(x, Dtype::kF32), 1, *keep, Op::Add), dtype);
}

Value lower_minmax_reduce(Lowering& lw, const Call& call) {
  Value x = reducible(lw, call);
  auto with_index = lw.constant_bool(call, 2), ties = lw.constant_bool(call, 3),
       keep = lw.constant_bool(call, 4);
  if (x.is_error() || !with_index || !ties || !keep) return Value::error();
  if (*with_index) {
    auto results = fold_with_index(lw, call, x, 1, *keep);
    return results ? Value::tuple(*results) : Value::error();
  }
  if (dtype_bits(x.type.dtype) < 32)
    x = lw.cast(x, is_float(x.type.dtype) ? Dtype::kF32 : Dtype::kI32);
  return fold_with_op(lw, call, x, 1, *keep, call.builtin->detail == "max" ? Op::Max : Op::Min);
}

Value lower_arg_reduce(Lowering& lw, const Call& call) {
  Value x = reducible(lw, call);
  auto keep = lw.constant_bool(call, 3);
  if (x.is_error() || !keep) return Value::error();
  auto results = fold_with_index(lw, call, x, 1, *keep);
  return results ? (*results)[1] : Value::error();
}

Value lower_bit_reduce(Lowering& lw, const Call& call) {
  Value x = reducible(lw, call);
  auto keep = lw.constant_bool(call, 2);
  if (x.is_error() || !keep) return Value::error();
  if (!is_int(x.type.dtype))
    return lw.fail(DiagKind::kBadOperand, call.spans[0],
                   fmt::format("'{}' reduces integers, but this is {}", call.name, describe(x)));
  return fold_with_op(lw, call, x, 1, *keep, call.builtin->detail == "xor" ? Op::Xor : Op::Or);
}

Value lower_reduce(Lowering& lw, const Call& call) {
  const Value& function = call.args[2];
  auto keep = lw.constant_bool(call, 3);
  if (!keep) return Value::error();
  if (function.kind != Kind::kFunction && function.kind != Kind::kBuiltin)
    return lw.not_constexpr(call, 2, "a jit function of two elements");
  bool single = call.args[0].kind != Kind::kTuple;
  auto tensors = combined_inputs(lw, call, "a reduction");
  if (!tensors) return Value::error();
  Operands operands = prepare(lw, call, std::move(*tensors), 1);
  if (!operands.ok) return Value::error();
  auto results = fold(
      lw, operands,
      [&](const Ids& a, const Ids& b) { return call_combine(lw, call, function, a, b); }, *keep,
      call.span);
  if (!results) return Value::error();
  return single ? (*results)[0] : Value::tuple(*results);
}

}  // namespace tilewright::frontend
