// Arguments of builtins as handlers want them: compile-time integers, words, shapes, types, axes.
#include <fmt/format.h>

#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using Kind = Value::Kind;

namespace {

std::string parameter_name(const Call& call, size_t index) {
  return fmt::format("argument '{}' of '{}'", builtin_params(*call.builtin)[index].name, call.name);
}

}  // namespace

Value Lowering::not_constexpr(const Call& call, size_t index, std::string_view wanted) {
  const Value& value = call.args[index];
  if (value.is_error()) return value;
  std::string hint = value.is_tensor()
                         ? ", a run-time value; declare 'name: tl.constexpr' to keep a constant"
                         : "";
  return fail(value.is_tensor() ? DiagKind::kNotConstexpr : DiagKind::kBadArgument,
              call.spans[index],
              fmt::format("{} must be {}, but is {}{}", parameter_name(call, index), wanted,
                          describe(value), hint));
}

std::optional<int64_t> Lowering::constant_int(const Call& call, size_t index) {
  const Value& value = call.args[index];
  if (value.is_integer() && !value.constant.is_unsigned) return value.constant.integer;
  not_constexpr(call, index, "a compile-time integer");
  return std::nullopt;
}

std::optional<bool> Lowering::constant_bool(const Call& call, size_t index) {
  const Value& value = call.args[index];
  if (value.is_constant()) return truth(value.constant);
  not_constexpr(call, index, "a compile-time True or False");
  return std::nullopt;
}

std::optional<std::string> Lowering::constant_string(const Call& call, size_t index) {
  const Value& value = call.args[index];
  if (value.is_string()) return value.constant.text;
  if (value.is_none()) return "";
  not_constexpr(call, index, "a string");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Lowering::constant_ints(const Call& call, size_t index) {
  const Value* value = &call.args[index];
  // f((1, 0)) and f(1, 0) are the same for variadic parameters.
  if (value->kind == Kind::kTuple && value->elements.size() == 1 &&
      value->elements[0].kind == Kind::kTuple)
    value = &value->elements[0];
  if (value->is_integer()) return std::vector<int64_t>{value->constant.integer};
  std::vector<int64_t> out;
  bool good = value->kind == Kind::kTuple;
  if (good)
    for (const Value& element : value->elements) {
      good &= element.is_integer();
      if (good) out.push_back(element.constant.integer);
    }
  if (good) return out;
  if (value->kind == Kind::kTuple) {
    for (const Value& element : value->elements) {
      if (element.is_integer()) continue;
      if (element.is_error()) return std::nullopt;
      Call one = call;
      one.args[index] = element;
      not_constexpr(one, index, "made of compile-time integers");
      return std::nullopt;
    }
  }
  not_constexpr(call, index, "a compile-time integer or a tuple of them");
  return std::nullopt;
}

std::optional<ir::Shape> Lowering::constant_shape(const Call& call, size_t index) {
  auto shape = constant_ints(call, index);
  if (!shape || !check_shape(*shape, call.spans[index])) return std::nullopt;
  return shape;
}

std::optional<ir::Type> Lowering::type_argument(const Call& call, size_t index) {
  const Value& value = call.args[index];
  if (value.kind == Kind::kType) return value.type.element();
  // A dtype by its name, as annotations may have it.
  if (value.is_string())
    if (auto dtype = parse_dtype(value.constant.text)) return ir::Type::scalar(*dtype);
  // Python's own type names stand for the types that Python numbers get.
  if (value.kind == Kind::kBuiltin) {
    if (value.builtin->name == "int") return ir::Type::scalar(Dtype::kI32);
    if (value.builtin->name == "float") return ir::Type::scalar(Dtype::kF32);
    if (value.builtin->name == "bool") return ir::Type::scalar(Dtype::kI1);
    if (value.builtin->kind == Builtin::Kind::kUnsupported) {
      fail(DiagKind::kUnsupportedBuiltin, call.spans[index],
           fmt::format("'{}' ({}) is not supported yet", value.builtin->name, value.builtin->doc));
      return std::nullopt;
    }
  }
  not_constexpr(call, index, "a dtype such as tl.float32");
  return std::nullopt;
}

Value Lowering::tensor_argument(const Call& call, size_t index) {
  return to_tensor(call.args[index], call.spans[index], parameter_name(call, index));
}

std::optional<int64_t> Lowering::axis_argument(const Call& call, size_t index, int rank) {
  auto axis = constant_int(call, index);
  if (!axis) return std::nullopt;
  if (*axis >= -rank && *axis < rank) return *axis < 0 ? *axis + rank : *axis;
  fail(DiagKind::kShapeMismatch, call.spans[index],
       rank == 0 ? fmt::format("{} is {}, but a scalar has no dimensions",
                               parameter_name(call, index), *axis)
                 : fmt::format("{} is {}, but a tile of {} dimension{} has axes {} to {}",
                               parameter_name(call, index), *axis, rank, rank == 1 ? "" : "s",
                               -rank, rank - 1));
  return std::nullopt;
}

}  // namespace tilewright::frontend
