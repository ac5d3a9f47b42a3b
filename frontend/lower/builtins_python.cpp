// Compile-time builtins: Python's own, dtype queries, assertions, and iterables that only a for
// statement may use.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

// ---- control and assertions ----

Value lower_loop_range(Lowering& lw, const Call& call) {
  return lw.fail(DiagKind::kUnsupportedSyntax, call.span,
                 fmt::format("'{}' can only be what a for statement loops over", call.name));
}

Value lower_condition(Lowering&, const Call& call) {
  return call.args[0];
}

Value lower_ignore(Lowering&, const Call&) {
  return Value::none();
}

Value lower_constant(Lowering&, const Call& call) {
  return Value::boolean(call.builtin->detail == "true");
}

namespace {

std::string message_of(const Value& message) {
  auto text = constant_text(message);
  std::string out = text && !message.is_none() ? *text : "";
  for (char& c : out)
    if (c == '\n' || c == '\r') c = ' ';
  while (out.ends_with('.') || out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

Value lower_static_assert(Lowering& lw, const Call& call) {
  if (call.args[0].is_tensor()) return lw.not_constexpr(call, 0, "known at compile time");
  auto condition = lw.condition(call.args[0], call.spans[0], "tl.static_assert");
  if (!condition.ok) return Value::error();
  if (condition.constant.value_or(true)) return Value::none();
  std::string message = message_of(call.args[1]);
  return lw.fail(DiagKind::kStaticAssert, call.spans[0],
                 "static assertion failed" + (message.empty() ? "" : ": " + message));
}

Value lower_device_assert(Lowering& lw, const Call& call) {
  if (!lw.specialization.debug) return Value::none();
  Value condition = lw.tensor_argument(call, 0);
  if (condition.is_error()) return condition;
  condition = lw.cast(condition, Dtype::kI1);
  std::vector<ir::ValueId> operands = {condition.id};
  if (!call.args[2].is_none()) {
    Value mask = lw.tensor_argument(call, 2);
    if (mask.is_error()) return mask;
    mask = lw.cast(mask, Dtype::kI1);
    if (!lw.broadcast_pair(condition, mask, call.span)) return Value::error();
    operands = {condition.id, mask.id};
  }
  std::string message = message_of(call.args[1]);
  lw.builder.make_op(Op::Assert, operands, {{"message", message}}, {});
  return Value::none();
}

// ---- numbers and text ----

Value lower_python_number(Lowering& lw, const Call& call) {
  const Value& x = call.args[0];
  std::string_view wanted = call.builtin->detail;
  if (wanted == "bool" && !x.is_tensor()) {
    auto condition = lw.condition(x, call.spans[0], "bool");
    return condition.ok ? Value::boolean(condition.constant.value_or(true)) : Value::error();
  }
  if (wanted == "float" && x.is_number()) return Value::real(as_double(x.constant));
  if (wanted == "int" && x.is_integer()) {
    Value out = x;
    out.constant.kind = Constant::Kind::kInt;
    return out;
  }
  if (wanted == "int" && x.is_number() && std::fabs(x.constant.number) < 0x1p63)
    return Value::integer(static_cast<int64_t>(x.constant.number));
  if (wanted == "float" && x.is_string()) {
    std::string_view text = x.constant.text;
    bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && !text.empty())
      return Value::real(negative ? -value : value);
  }
  return lw.not_constexpr(call, 0, fmt::format("a compile-time value that '{}' converts", wanted));
}

Value lower_python_text(Lowering& lw, const Call& call) {
  auto text = constant_text(call.args[0]);
  return text ? Value::string(*text) : lw.not_constexpr(call, 0, "a compile-time value");
}

Value lower_python_pow(Lowering& lw, const Call& call) {
  return lw.binary(dsl::Operator::kPow, call.args[0], call.args[1], call.span, call.spans[0],
                   call.spans[1]);
}

Value lower_python_tuple(Lowering& lw, const Call& call) {
  if (call.args[0].kind == Kind::kTuple) return call.args[0];
  return lw.not_constexpr(call, 0, "a tuple");
}

Value lower_python_math(Lowering& lw, const Call& call) {
  if (!call.args[0].is_number()) return lw.not_constexpr(call, 0, "a compile-time number");
  double x = as_double(call.args[0].constant);
  std::string_view name = call.builtin->detail;
  bool undefined = (name == "sqrt" && x < 0) || (name.starts_with("log") && x <= 0);
  if (undefined)
    return lw.fail(
        DiagKind::kBadOperand, call.spans[0],
        fmt::format("math.{} is not defined for {}", name, to_string(call.args[0].constant)));
  if (name == "ceil" || name == "floor") {
    double rounded = name == "ceil" ? std::ceil(x) : std::floor(x);
    if (std::fabs(rounded) < 0x1p63) return Value::integer(static_cast<int64_t>(rounded));
    return lw.fail(DiagKind::kConstantOverflow, call.span, "the result does not fit in 64 bits");
  }
  if (name == "sqrt") return Value::real(std::sqrt(x));
  if (name == "log") return Value::real(std::log(x));
  if (name == "log2") return Value::real(std::log2(x));
  return Value::real(std::exp(x));
}

Value lower_int_query(Lowering& lw, const Call& call) {
  auto n = lw.constant_int(call, 0);
  if (!n) return Value::error();
  std::string_view what = call.builtin->detail;
  auto magnitude = static_cast<uint64_t>(*n < 0 ? -*n : *n);
  if (what == "bit_length") return Value::integer(std::bit_width(magnitude));
  if (*n < 1)
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("'{}' needs a positive integer, not {}", call.name, *n));
  if (what == "log2") return Value::integer(std::bit_width(magnitude) - 1);
  if (magnitude > uint64_t{1} << 62)
    return lw.fail(DiagKind::kConstantOverflow, call.span, "the result does not fit in 64 bits");
  return Value::integer(static_cast<int64_t>(std::bit_ceil(magnitude)));
}

Value lower_len(Lowering& lw, const Call& call) {
  const Value& x = call.args[0];
  if (x.kind == Kind::kTuple) return Value::integer(static_cast<int64_t>(x.elements.size()));
  if (x.is_string()) return Value::integer(static_cast<int64_t>(x.constant.text.size()));
  if (x.is_tile()) return Value::integer(x.type.shape[0]);
  return lw.not_constexpr(call, 0, "a tuple or a tile");
}

// ---- classes and attributes ----

namespace {

std::string class_name(const Value& value) {
  if (value.kind == Kind::kClass) return value.text;
  if (value.kind == Kind::kBuiltin) return std::string(value.builtin->name);
  return "";
}

bool is_instance(const Value& x, std::string_view name) {
  using C = Constant::Kind;
  if (name == "tl.tensor") return x.is_tensor();
  if (name == "tl.constexpr")
    return !x.is_tensor() && x.kind != Kind::kTuple && x.kind != Kind::kBlockPointer;
  if (name == "tl.dtype") return x.kind == Kind::kType;
  if (name == "tl.block_type") return x.kind == Kind::kType && x.type.is_tile();
  if (name == "tl.pointer_type")
    return x.kind == Kind::kType && x.type.is_pointer && x.type.is_scalar();
  if (name == "tl.tuple" || name == "tuple" || name == "list") return x.kind == Kind::kTuple;
  if (name == "tl.tensor_descriptor")
    return x.kind == Kind::kBlockPointer && x.block->is_descriptor;
  if (!x.is_constant()) return false;
  if (name == "int") return x.is_integer();
  if (name == "bool") return x.constant.kind == C::kBool;
  if (name == "float") return x.constant.kind == C::kFloat;
  if (name == "str") return x.constant.kind == C::kString;
  return false;
}

}  // namespace

Value lower_isinstance(Lowering& lw, const Call& call) {
  std::vector<Value> classes = {call.args[1]};
  if (call.args[1].kind == Kind::kTuple) classes = call.args[1].elements;
  bool found = false;
  for (const Value& c : classes) {
    std::string name = class_name(c);
    if (name.empty()) return lw.not_constexpr(call, 1, "a class or a tuple of classes");
    found |= is_instance(call.args[0], name);
  }
  return Value::boolean(found);
}

Value lower_hasattr(Lowering& lw, const Call& call) {
  auto name = lw.constant_string(call, 1);
  if (!name) return Value::error();
  bool get = call.builtin->detail == "get";
  if (get && !call.given[2]) return lw.attribute(call.args[0], *name, call.span, call.spans[1]);
  bool known = lw.has_attribute(call.args[0], *name);
  if (!get) return Value::boolean(known);
  return known ? lw.attribute(call.args[0], *name, call.span, call.spans[1]) : call.args[2];
}

// ---- types ----

Value lower_pointer_type(Lowering& lw, const Call& call) {
  auto type = lw.type_argument(call, 0);
  if (!type) return Value::error();
  if (type->is_pointer)
    return lw.fail(DiagKind::kBadArgument, call.spans[0], "there are no pointers to pointers");
  return Value::of_type(ir::Type::pointer(type->dtype));
}

Value lower_block_type(Lowering& lw, const Call& call) {
  auto type = lw.type_argument(call, 0);
  auto shape = lw.constant_shape(call, 1);
  if (!type || !shape) return Value::error();
  return Value::of_type(type->with_shape(*shape));
}

Value lower_get_int_dtype(Lowering& lw, const Call& call) {
  auto bits = lw.constant_int(call, 0);
  auto is_signed = lw.constant_bool(call, 1);
  if (!bits || !is_signed) return Value::error();
  auto dtype = parse_dtype(fmt::format("{}int{}", *is_signed ? "" : "u", *bits));
  if (*bits == 1) dtype = Dtype::kI1;
  if (!dtype)
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("integers have 1, 8, 16, 32 or 64 bits, not {}", *bits));
  return Value::of_type(ir::Type::scalar(*dtype));
}

Value lower_dtype_query(Lowering& lw, const Call& call) {
  const Value& x = call.args[0];
  if (x.kind != Kind::kType) return lw.not_constexpr(call, 0, "a dtype");
  std::string_view what = call.builtin->detail;
  if (what == "pointer") return Value::boolean(x.type.is_pointer && x.type.is_scalar());
  if (what == "block") return Value::boolean(x.type.is_tile());
  if (x.type.is_pointer) return Value::boolean(false);
  Dtype dtype = x.type.dtype;
  if (what == "fp8") return Value::boolean(is_fp8(dtype));
  if (what == "float") return Value::boolean(is_float(dtype));
  if (what == "standard_float") return Value::boolean(is_float(dtype) && !is_fp8(dtype));
  if (what == "int") return Value::boolean(is_int(dtype));
  if (what == "signed") return Value::boolean(is_signed(dtype));
  if (what == "unsigned") return Value::boolean(is_unsigned(dtype));
  return Value::boolean(dtype_name(dtype) == what);
}

Value lower_block_shapes(Lowering& lw, const Call& call) {
  const Value& x = call.args[0];
  if (x.kind != Kind::kType) return lw.not_constexpr(call, 0, "a type");
  Value out = Value::tuple({});
  for (int64_t extent : x.type.shape) out.elements.push_back(Value::integer(extent));
  return out;
}

}  // namespace tilewright::frontend
