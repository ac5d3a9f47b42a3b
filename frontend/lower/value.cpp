#include "frontend/lower/value.h"

#include <fmt/format.h>

#include "frontend/fold.h"

namespace tilewright::frontend {

using Kind = Value::Kind;

Value Value::of(Constant constant) {
  Value out;
  // Dtypes, functions and tuples have kinds of their own here.
  if (constant.kind == Constant::Kind::kDtype) return of_type(ir::Type::scalar(constant.dtype));
  if (constant.kind == Constant::Kind::kTuple) {
    out.kind = Kind::kTuple;
    for (Constant& element : constant.elements) out.elements.push_back(of(std::move(element)));
    return out;
  }
  out.kind = Kind::kConstant;
  out.constant = std::move(constant);
  return out;
}

Value Value::boolean(bool value) {
  Constant c;
  c.kind = Constant::Kind::kBool;
  c.integer = value;
  return of(std::move(c));
}

Value Value::integer(int64_t value) {
  Constant c;
  c.kind = Constant::Kind::kInt;
  c.integer = value;
  return of(std::move(c));
}

Value Value::real(double value) {
  Constant c;
  c.kind = Constant::Kind::kFloat;
  c.number = value;
  return of(std::move(c));
}

Value Value::string(std::string value) {
  Constant c;
  c.kind = Constant::Kind::kString;
  c.text = std::move(value);
  return of(std::move(c));
}

Value Value::of_type(ir::Type type) {
  Value out;
  out.kind = Kind::kType;
  out.type = std::move(type);
  return out;
}

Value Value::tuple(std::vector<Value> elements) {
  Value out;
  out.kind = Kind::kTuple;
  out.elements = std::move(elements);
  return out;
}

Value Value::tensor(ir::ValueId id, ir::Type type) {
  Value out;
  out.kind = Kind::kTensor;
  out.id = id;
  out.type = std::move(type);
  return out;
}

bool Value::is_number() const {
  return kind == Kind::kConstant && frontend::is_number(constant);
}

bool Value::is_integer() const {
  return kind == Kind::kConstant && frontend::is_integer(constant);
}

namespace {

bool same_block(const BlockPointer& a, const BlockPointer& b) {
  return a.base == b.base && a.shape == b.shape && a.strides == b.strides &&
         a.offsets == b.offsets && a.block == b.block && a.is_descriptor == b.is_descriptor;
}

std::string element_text(const ir::Type& type) {
  std::string dtype(dtype_triton_name(type.dtype));
  return type.is_pointer ? "pointer<" + dtype + ">" : dtype;
}

}  // namespace

bool same_value(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kError:
      return true;
    case Kind::kConstant: {
      // NaN is the same compile-time value as itself.
      bool nans = a.constant.number != a.constant.number && b.constant.number != b.constant.number;
      return a.constant == b.constant || (a.constant.kind == b.constant.kind && nans);
    }
    case Kind::kTensor:
      return a.id == b.id;
    case Kind::kType:
      return a.type == b.type;
    case Kind::kFunction:
      return a.function == b.function;
    case Kind::kBuiltin:
      return a.builtin == b.builtin;
    case Kind::kModule:
    case Kind::kClass:
    case Kind::kScope:
      return a.text == b.text;
    case Kind::kBlockPointer:
      return same_block(*a.block, *b.block);
    case Kind::kMethod:
      if (a.builtin != b.builtin) return false;
      break;
    case Kind::kTuple:
      break;
  }
  if (a.elements.size() != b.elements.size()) return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!same_value(a.elements[i], b.elements[i])) return false;
  return true;
}

std::string shape_text(const ir::Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string type_text(const ir::Type& type) {
  return element_text(type) + (type.is_tile() ? shape_text(type.shape) : "");
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Kind::kError:
      return "an invalid value";
    case Kind::kConstant:
      if (value.is_none()) return "None";
      return "the constant " + to_string(value.constant);
    case Kind::kTensor:
      return type_text(value.type);
    case Kind::kTuple:
      return fmt::format("a tuple of {}", value.elements.size());
    case Kind::kType:
      return "the type " + type_text(value.type);
    case Kind::kFunction:
      return "the function '" + value.text + "'";
    case Kind::kBuiltin:
    case Kind::kMethod:
      return "the function '" + std::string(value.builtin->name) + "'";
    case Kind::kModule:
      return "the module '" + value.text + "'";
    case Kind::kClass:
    case Kind::kScope:
      return "the class '" + value.text + "'";
    case Kind::kBlockPointer:
      return fmt::format("a {} of {}{}",
                         value.block->is_descriptor ? "tensor descriptor" : "block pointer",
                         dtype_triton_name(value.block->dtype), shape_text(value.block->block));
  }
  return "a value";
}

std::optional<std::string> constant_text(const Value& value) {
  switch (value.kind) {
    case Kind::kConstant:
      return value.is_string() ? value.constant.text : to_string(value.constant);
    case Kind::kType:
      return type_text(value.type);
    case Kind::kTuple: {
      std::string out = "(";
      for (size_t i = 0; i < value.elements.size(); ++i) {
        auto element = constant_text(value.elements[i]);
        if (!element) return std::nullopt;
        out += (i ? ", " : "") + *element;
      }
      return out + (value.elements.size() == 1 ? ",)" : ")");
    }
    case Kind::kFunction:
    case Kind::kModule:
    case Kind::kClass:
      return value.text;
    default:
      return std::nullopt;
  }
}

void flatten(const Value& value, std::vector<ir::ValueId>& out) {
  if (value.kind == Kind::kTensor) out.push_back(value.id);
  if (value.kind == Kind::kTuple)
    for (const Value& element : value.elements) flatten(element, out);
  if (value.kind != Kind::kBlockPointer) return;
  out.push_back(value.block->base);
  for (const auto* list : {&value.block->shape, &value.block->strides, &value.block->offsets})
    out.insert(out.end(), list->begin(), list->end());
}

Value unflatten(const Value& like, const std::vector<ir::ValueId>& parts, size_t& position) {
  Value out = like;
  if (like.kind == Kind::kTensor) out.id = parts[position++];
  if (like.kind == Kind::kTuple)
    for (Value& element : out.elements) element = unflatten(element, parts, position);
  if (like.kind != Kind::kBlockPointer) return out;
  auto block = std::make_shared<BlockPointer>(*like.block);
  block->base = parts[position++];
  for (auto* list : {&block->shape, &block->strides, &block->offsets})
    for (ir::ValueId& id : *list) id = parts[position++];
  out.block = std::move(block);
  return out;
}

}  // namespace tilewright::frontend
