// Attributes: of modules (tl.exp), tensors (.dtype, .shape, .T, methods), types (.element_ty,
// .primitive_bitwidth, …), constants and block pointers.
#include <fmt/format.h>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using ir::Op;
using Kind = Value::Kind;

Value shape_value(const ir::Shape& shape) {
  Value out = Value::tuple({});
  for (int64_t extent : shape) out.elements.push_back(Value::integer(extent));
  return out;
}

Value method(std::string_view kind, std::string_view name, const Value& receiver) {
  const Builtin* builtin = find_builtin(fmt::format("{}.{}", kind, name));
  if (!builtin) return Value::error();
  Value out;
  out.kind = Kind::kMethod;
  out.builtin = builtin;
  out.elements.push_back(receiver);
  return out;
}

Value transpose(Lowering& lw, const Value& tensor, Span span) {
  if (tensor.type.rank() != 2)
    return lw.fail(
        DiagKind::kShapeMismatch, span,
        fmt::format("'.T' needs 2 dimensions, but this is {}; use tl.permute", describe(tensor)));
  SpanScope at(lw, span);
  return lw.emit_value(Op::Permute, {tensor.id}, {{"order", std::vector<int64_t>{1, 0}}});
}

std::optional<Value> tensor_attribute(Lowering& lw, const Value& tensor, std::string_view name,
                                      Span span) {
  if (name == "dtype") return Value::of_type(tensor.type.element());
  if (name == "type") return Value::of_type(tensor.type);
  if (name == "shape") return shape_value(tensor.type.shape);
  if (name == "numel") return Value::integer(tensor.type.element_count());
  if (name == "T") return transpose(lw, tensor, span);
  Value found = method("tensor", name, tensor);
  if (!found.is_error()) return found;
  return std::nullopt;
}

std::optional<Value> type_attribute(const Value& value, std::string_view name) {
  const ir::Type& type = value.type;
  if (name == "element_ty") {
    if (type.is_tile()) return Value::of_type(type.element());
    return Value::of_type(ir::Type::scalar(type.dtype));
  }
  if (name == "scalar") return Value::of_type(type.element());
  if (name == "dtype") return value;
  if (name == "shape") return shape_value(type.shape);
  if (name == "numel") return Value::integer(type.element_count());
  if (name == "primitive_bitwidth") return Value::integer(type.element_bits());
  if (name == "int_bitwidth" && !type.is_pointer && is_int(type.dtype))
    return Value::integer(type.element_bits());
  if (name == "itemsize") return Value::integer(type.element_bytes());
  if (name == "name" && type.is_scalar() && !type.is_pointer) {
    // Triton's signature names: fp32, bf16, int32, …
    std::string text(dtype_triton_name(type.dtype));
    if (text.starts_with("float")) text = "fp" + text.substr(5);
    return Value::string(text == "bfloat16" ? "bf16" : text);
  }
  Value found = method("dtype", name, value);
  if (!found.is_error()) return found;
  return std::nullopt;
}

std::optional<Value> constant_attribute(Lowering& lw, const Value& value, std::string_view name) {
  if (name == "value") return value;
  if (!value.is_number()) return std::nullopt;
  ir::Type type = ir::Type::scalar(lw.number_dtype(value.constant));
  if (name == "dtype" || name == "type") return Value::of_type(type);
  if (name == "shape") return Value::tuple({});
  Value found = method("number", name, value);
  if (!found.is_error()) return found;
  return std::nullopt;
}

std::optional<Value> block_attribute(Lowering& lw, const Value& value, std::string_view name) {
  const BlockPointer& block = *value.block;
  if (name == "dtype")
    return Value::of_type(block.is_descriptor ? ir::Type::scalar(block.dtype)
                                              : ir::Type::pointer(block.dtype));
  if (name == "type")
    return Value::of_type(block.is_descriptor ? ir::Type::tile(block.dtype, block.block)
                                              : ir::Type::pointer(block.dtype));
  if (name == "block_shape") return shape_value(block.block);
  if (name == "shape" || name == "strides") {
    Value out = Value::tuple({});
    for (ir::ValueId id : name == "shape" ? block.shape : block.strides)
      out.elements.push_back(lw.wrap(id));
    return out;
  }
  Value found = method("block", name, value);
  if (!found.is_error()) return found;
  return std::nullopt;
}

}  // namespace

Value Lowering::attribute(const Value& object, std::string_view name, Span span, Span name_span) {
  std::optional<Value> found;
  switch (object.kind) {
    case Kind::kError:
      return object;
    case Kind::kModule:
      if (const Builtin* dialect = find_dialect(object.text + "." + std::string(name)))
        return fail(DiagKind::kUnsupportedDialect, span,
                    fmt::format("'{}.{}' belongs to {}, which is outside of Triton's language",
                                object.text, name, dialect->doc));
      return resolve_path(object.text + "." + std::string(name), name_span);
    case Kind::kClass:
      return resolve_path(object.text + "." + std::string(name), name_span);
    case Kind::kScope: {
      std::string qualified = object.text + "." + std::string(name);
      if (const dsl::Stmt* def = program.find(qualified)) {
        Value out;
        out.kind = Kind::kFunction;
        out.function = def;
        out.text = qualified;
        return out;
      }
      break;
    }
    case Kind::kTensor:
      found = tensor_attribute(*this, object, name, span);
      break;
    case Kind::kType:
      found = type_attribute(object, name);
      break;
    case Kind::kConstant:
      found = constant_attribute(*this, object, name);
      break;
    case Kind::kBlockPointer:
      found = block_attribute(*this, object, name);
      break;
    case Kind::kBuiltin:
      if (object.builtin->kind == Builtin::Kind::kUnsupported)
        return fail(DiagKind::kUnsupportedBuiltin, span,
                    fmt::format("'{}' ({}) is not supported yet", object.builtin->name,
                                object.builtin->doc));
      break;
    case Kind::kTuple:
    case Kind::kFunction:
    case Kind::kMethod:
      break;
  }
  if (found) return *found;
  std::string_view nearest;
  if (object.is_tensor()) nearest = nearest_builtin("tensor." + std::string(name));
  return fail(DiagKind::kUnknownAttribute, name_span,
              fmt::format("{} has no attribute '{}'{}", describe(object), name,
                          nearest.empty() ? ""
                                          : fmt::format("; did you mean '.{}'?",
                                                        nearest.substr(nearest.find('.') + 1))));
}

bool Lowering::has_attribute(const Value& object, std::string_view name) {
  quiet_ = true;
  ir::RegionId scratch = module.add_region({});
  Value found = in_region(scratch, [&] { return attribute(object, name, {}, {}); });
  quiet_ = false;
  return !found.is_error();
}

}  // namespace tilewright::frontend
