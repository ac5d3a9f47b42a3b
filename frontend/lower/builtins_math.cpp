// Element-wise builtins.
#include <fmt/format.h>

#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

namespace {

// bf16 is computed and returned as float32 by minimum, maximum and clamp.
Value widen_bf16(Lowering& lw, const Value& x) {
  bool narrow = x.is_tensor() && !x.type.is_pointer && x.type.dtype == Dtype::kBF16;
  return narrow ? lw.cast(x, Dtype::kF32) : x;
}

bool is_wide_float(const Value& x) {
  return x.is_tensor() && !x.type.is_pointer &&
         (x.type.dtype == Dtype::kF32 || x.type.dtype == Dtype::kF64);
}

Value need_wide_float(Lowering& lw, const Call& call, size_t index) {
  const Value& x = call.args[index];
  std::string hint = x.is_tensor() && !x.type.is_pointer ? "; convert with .to(tl.float32)" : "";
  return lw.fail(
      DiagKind::kBadOperand, call.spans[index],
      fmt::format("'{}' takes float32 or float64, but this is {}{}", call.name, describe(x), hint));
}

std::optional<bool> propagates_nan(Lowering& lw, const Call& call, size_t index) {
  auto word = lw.constant_string(call, index);
  if (!word) return std::nullopt;
  if (word->empty() || *word == "NONE") return false;
  if (*word == "ALL") return true;
  lw.fail(
      DiagKind::kBadArgument, call.spans[index],
      fmt::format("propagate_nan is tl.PropagateNan.NONE or tl.PropagateNan.ALL, not '{}'", *word));
  return std::nullopt;
}

Value minmax(Lowering& lw, Op op, const Value& x, const Value& y, bool propagate,
             const Call& call) {
  Value a = widen_bf16(lw, x), b = widen_bf16(lw, y);
  Span y_span = call.spans.size() > 1 ? call.spans[1] : call.span;
  if (!lw.promote_pair(a, b, call.span, call.spans[0], y_span, false, call.name))
    return Value::error();
  ir::Attrs attrs;
  if (propagate && is_float(a.type.dtype)) attrs.set("nan", std::string("propagate"));
  if (!is_fp8(a.type.dtype)) return lw.emit_value(op, {a.id, b.id}, attrs);
  Dtype dtype = a.type.dtype;
  ir::ValueId wide = lw.emit(op, {lw.cast(a.id, Dtype::kF32), lw.cast(b.id, Dtype::kF32)}, attrs);
  return lw.wrap(lw.cast(wide, dtype));
}

}  // namespace

Value lower_float_math(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  if (!is_wide_float(x)) return need_wide_float(lw, call, 0);
  return lw.emit_value(*ir::op_from_mnemonic(call.builtin->detail), {x.id});
}

Value lower_fdiv(Lowering& lw, const Call& call) {
  Value a = call.args[0], b = call.args[1];
  if (!lw.promote_pair(a, b, call.span, call.spans[0], call.spans[1], false, call.name))
    return Value::error();
  if (!is_float(a.type.dtype))
    return lw.fail(DiagKind::kBadOperand, call.span,
                   fmt::format("'{}' divides floats, but its operands are {} and {}", call.name,
                               describe(call.args[0]), describe(call.args[1])));
  bool rounded = call.builtin->detail == "div_rn";
  if (rounded && !is_wide_float(a)) return need_wide_float(lw, call, 0);
  bool ieee = !rounded && call.args.size() > 2 && lw.constant_bool(call, 2).value_or(false);
  Op op = rounded || ieee ? Op::DivRn : Op::Div;
  Dtype dtype = a.type.dtype;
  if (is_wide_float(a)) return lw.emit_value(op, {a.id, b.id});
  ir::ValueId wide = lw.emit(op, {lw.cast(a.id, Dtype::kF32), lw.cast(b.id, Dtype::kF32)});
  return lw.wrap(lw.cast(wide, dtype));
}

Value lower_fma(Lowering& lw, const Call& call) {
  Value x = call.args[0], y = call.args[1], z = call.args[2];
  // Three pairs: the third brings what the second changed to x and y.
  if (!lw.promote_pair(x, y, call.span, call.spans[0], call.spans[1], false, call.name) ||
      !lw.promote_pair(x, z, call.span, call.spans[0], call.spans[2], false, call.name) ||
      !lw.promote_pair(x, y, call.span, call.spans[0], call.spans[1], false, call.name))
    return Value::error();
  if (!is_float(x.type.dtype) || is_fp8(x.type.dtype))
    return lw.fail(DiagKind::kBadOperand, call.span,
                   fmt::format("'{}' takes floats of 16 bits or more, but this is {}", call.name,
                               describe(x)));
  return lw.emit_value(Op::Fma, {x.id, y.id, z.id});
}

Value lower_umulhi(Lowering& lw, const Call& call) {
  Value a = call.args[0], b = call.args[1];
  if (!lw.promote_pair(a, b, call.span, call.spans[0], call.spans[1], false, call.name))
    return Value::error();
  Dtype dtype = a.type.dtype;
  if (!is_int(dtype) || dtype_bits(dtype) < 32)
    return lw.fail(
        DiagKind::kBadOperand, call.span,
        fmt::format("'{}' takes integers of 32 or 64 bits, but its operands are {} and {}",
                    call.name, describe(call.args[0]), describe(call.args[1])));
  Dtype as = dtype;
  if (call.builtin->name != "libdevice.mulhi")
    as = dtype_bits(dtype) == 32 ? Dtype::kU32 : Dtype::kU64;
  ir::ValueId high = lw.emit(Op::MulHi, {lw.cast(a.id, as), lw.cast(b.id, as)});
  return lw.wrap(lw.cast(high, dtype));
}

Value lower_abs(Lowering& lw, const Call& call) {
  if (call.args[0].is_number() && call.builtin->name == "abs") {
    const Constant& x = call.args[0].constant;
    auto folded = as_double(x) < 0 ? fold_unary(dsl::Operator::kNeg, x) : Result<Constant>(x);
    return folded ? Value::of(*folded)
                  : lw.fail(folded.error().kind, call.span, folded.error().message);
  }
  Value x = lw.tensor_argument(call, 0);
  if (x.is_error()) return x;
  if (x.type.is_pointer)
    return lw.fail(DiagKind::kBadOperand, call.spans[0],
                   fmt::format("'{}' is not defined for {}", call.name, describe(x)));
  if (is_unsigned(x.type.dtype)) return x;
  if (!is_fp8(x.type.dtype)) return lw.emit_value(Op::Abs, {x.id});
  Dtype dtype = x.type.dtype;
  return lw.wrap(lw.cast(lw.emit(Op::Abs, {lw.cast(x.id, Dtype::kF32)}), dtype));
}

Value lower_arithmetic(Lowering& lw, const Call& call) {
  char sign = call.builtin->detail[0];
  auto op = sign == '+'   ? dsl::Operator::kAdd
            : sign == '-' ? dsl::Operator::kSub
                          : dsl::Operator::kMul;
  return lw.binary(op, call.args[0], call.args[1], call.span, call.spans[0], call.spans[1]);
}

Value lower_where(Lowering& lw, const Call& call) {
  Value condition = lw.tensor_argument(call, 0);
  Value x = call.args[1], y = call.args[2];
  if (condition.is_error()) return condition;
  condition = lw.cast(condition, Dtype::kI1);
  if (x.is_pointer() || y.is_pointer()) {
    if (!x.is_pointer() || !y.is_pointer() || x.type.element() != y.type.element())
      return lw.fail(DiagKind::kTypeMismatch, call.span,
                     fmt::format("tl.where chooses between two pointers of one type, but they are "
                                 "{} and {}",
                                 describe(x), describe(y)));
    if (!lw.broadcast_pair(x, y, call.span)) return Value::error();
  } else if (!lw.promote_pair(x, y, call.span, call.spans[1], call.spans[2], false, call.name)) {
    return Value::error();
  }
  if (!lw.broadcast_pair(condition, x, call.span) || !lw.broadcast_pair(x, y, call.span))
    return Value::error();
  return lw.emit_value(Op::Select, {condition.id, x.id, y.id});
}

Value lower_minmax(Lowering& lw, const Call& call) {
  Value x = lw.tensor_argument(call, 0), y = lw.tensor_argument(call, 1);
  auto propagate = propagates_nan(lw, call, 2);
  if (x.is_error() || y.is_error() || !propagate) return Value::error();
  return minmax(lw, call.builtin->detail == "min" ? Op::Min : Op::Max, x, y, *propagate, call);
}

Value lower_python_minmax(Lowering& lw, const Call& call) {
  std::vector<Value> values = call.args[0].elements;
  if (values.size() == 1 && values[0].kind == Kind::kTuple) {
    // A copy first: the element lives in the vector that is assigned.
    std::vector<Value> inner = values[0].elements;
    values = std::move(inner);
  }
  if (values.empty())
    return lw.fail(DiagKind::kMissingArgument, call.span,
                   fmt::format("'{}' needs at least one argument", call.name));
  bool is_min = call.builtin->detail == "min";
  Value best = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    if (best.is_error() || values[i].is_error()) return Value::error();
    if (best.is_constant() && values[i].is_constant()) {
      auto less = fold_binary(dsl::Operator::kLt, is_min ? values[i].constant : best.constant,
                              is_min ? best.constant : values[i].constant);
      if (!less) return lw.fail(less.error().kind, call.span, less.error().message);
      if (truth(*less)) best = values[i];
      continue;
    }
    Value x = lw.to_tensor(best, call.span), y = lw.to_tensor(values[i], call.span);
    best = minmax(lw, is_min ? Op::Min : Op::Max, x, y, false, call);
  }
  return best;
}

Value lower_clamp(Lowering& lw, const Call& call) {
  Value v[3];
  for (size_t i = 0; i < 3; ++i) {
    v[i] = widen_bf16(lw, lw.tensor_argument(call, i));
    if (v[i].is_error()) return v[i];
  }
  auto propagate = propagates_nan(lw, call, 3);
  auto pair = [&](size_t i, size_t k) {
    return lw.promote_pair(v[i], v[k], call.span, call.spans[i], call.spans[k], false, call.name);
  };
  if (!propagate || !pair(1, 2) || !pair(0, 1) || !pair(0, 2) || !pair(0, 1)) return Value::error();
  if (!is_float(v[0].type.dtype) || is_fp8(v[0].type.dtype))
    return lw.fail(DiagKind::kBadOperand, call.spans[0],
                   fmt::format("tl.clamp takes floats, but this is {}; use tl.minimum and "
                               "tl.maximum",
                               describe(v[0])));
  ir::Attrs attrs;
  if (*propagate) attrs.set("nan", std::string("propagate"));
  ir::ValueId low = lw.emit(Op::Max, {v[0].id, v[1].id}, attrs);
  return lw.emit_value(Op::Min, {low, v[2].id}, attrs);
}

}  // namespace tilewright::frontend
