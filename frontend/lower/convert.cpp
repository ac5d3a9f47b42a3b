// Constants to tensors, casts and broadcasting: the implicit conversions of the language.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "dsl/base/numeric.h"
#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;

ir::ValueId Lowering::emit(Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs) {
  return builder.make(op, std::move(operands), std::move(attrs));
}

ir::ValueId Lowering::emit_as(Op op, ir::Type type, std::vector<ir::ValueId> operands,
                              ir::Attrs attrs) {
  return builder.make_as(op, std::move(type), std::move(operands), std::move(attrs));
}

Value Lowering::emit_value(Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs) {
  return wrap(emit(op, std::move(operands), std::move(attrs)));
}

Value Lowering::emit_value_as(Op op, ir::Type type, std::vector<ir::ValueId> operands,
                              ir::Attrs attrs) {
  return wrap(emit_as(op, std::move(type), std::move(operands), std::move(attrs)));
}

namespace {

__int128 wide(const Constant& x) {
  return x.is_unsigned ? static_cast<__int128>(static_cast<uint64_t>(x.integer))
                       : static_cast<__int128>(x.integer);
}

bool fits(__int128 value, Dtype dtype) {
  int bits = dtype_bits(dtype);
  __int128 low = is_signed(dtype) ? -(__int128{1} << (bits - 1)) : 0;
  __int128 high = (__int128{1} << (is_signed(dtype) ? bits - 1 : bits)) - 1;
  return value >= low && value <= high;
}

std::string range_text(Dtype dtype) {
  int bits = dtype_bits(dtype);
  if (dtype == Dtype::kI1) return "0 and 1";
  if (is_signed(dtype)) return fmt::format("-2^{} to 2^{}-1", bits - 1, bits - 1);
  return fmt::format("0 to 2^{}-1", bits);
}

}  // namespace

Dtype Lowering::number_dtype(const Constant& number) const {
  if (number.kind == Constant::Kind::kBool) return Dtype::kI1;
  if (number.kind == Constant::Kind::kInt) {
    __int128 value = wide(number);
    for (Dtype dtype : {Dtype::kI32, Dtype::kU32, Dtype::kI64})
      if (fits(value, dtype)) return dtype;
    return Dtype::kU64;
  }
  // Beyond float32's normal range a float is a float64; 0, inf and nan stay float32.
  double magnitude = std::fabs(number.number);
  bool plain = magnitude == 0 || !std::isfinite(magnitude) ||
               (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127);
  return plain ? Dtype::kF32 : Dtype::kF64;
}

Value Lowering::constant_of(const Constant& number, const ir::Type& type, Span span) {
  if (type.is_pointer)
    return fail(DiagKind::kTypeMismatch, span,
                fmt::format("{} cannot become a {}", describe(Value::of(number)), type_text(type)));
  if (is_float(type.dtype)) {
    // Rounded here, once, so that every backend sees the same representable number.
    double value = bits_to_float(float_to_bits(as_double(number), type.dtype), type.dtype);
    return wrap(builder.constant_float(type, value));
  }
  __int128 value = 0;
  if (is_integer(number)) {
    value = wide(number);
  } else {
    if (number.number != std::floor(number.number) || std::fabs(number.number) > 0x1p63)
      return fail(
          DiagKind::kTypeMismatch, span,
          fmt::format("{} is no value of {}", to_string(number), dtype_triton_name(type.dtype)));
    value = static_cast<__int128>(number.number);
  }
  if (!fits(value, type.dtype))
    return fail(DiagKind::kConstantOverflow, span,
                fmt::format("{} does not fit in {}, which holds {}", to_string(number),
                            dtype_triton_name(type.dtype), range_text(type.dtype)));
  return wrap(builder.constant_int(type, static_cast<int64_t>(static_cast<uint64_t>(value))));
}

Value Lowering::to_tensor(const Value& value, Span span, std::string_view what) {
  if (value.is_error() || value.is_tensor()) return value;
  if (value.is_number())
    return constant_of(value.constant, ir::Type::scalar(number_dtype(value.constant)), span);
  std::string hint = value.kind == Value::Kind::kBlockPointer ? "; load from it first" : "";
  return fail(
      DiagKind::kBadOperand, span,
      fmt::format("the {} must be a tensor or a number, but is {}{}", what, describe(value), hint));
}

ir::ValueId Lowering::cast(ir::ValueId value, Dtype dtype, std::string_view rounding) {
  const ir::Type type = module.type(value);
  if (!type.is_pointer && type.dtype == dtype) return value;
  ir::Attrs attrs;
  if (!rounding.empty() && rounding != "rtne") attrs.set("rounding", std::string(rounding));
  ir::Type to{dtype, false, type.shape};
  // Addresses are 64 bits; the truth of a pointer is whether it is null.
  if (type.is_pointer && dtype == Dtype::kI1) {
    ir::ValueId address = emit_as(Op::Cast, {Dtype::kI64, false, type.shape}, {value});
    return emit_as(Op::Cast, to, {address});
  }
  return emit_as(Op::Cast, to, {value}, attrs);
}

Value Lowering::cast(const Value& tensor, Dtype dtype) {
  return tensor.is_error() ? tensor : wrap(cast(tensor.id, dtype));
}

std::optional<ir::Shape> Lowering::common_shape(const ir::Shape& a, const ir::Shape& b) const {
  ir::Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    size_t from_end = out.size() - i;
    int64_t x = from_end > a.size() ? 1 : a[a.size() - from_end];
    int64_t y = from_end > b.size() ? 1 : b[b.size() - from_end];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Value Lowering::broadcast_to(const Value& tensor, const ir::Shape& shape, Span span) {
  if (tensor.is_error() || tensor.type.shape == shape) return tensor;
  if (tensor.type.is_scalar())
    return emit_value_as(Op::Splat, tensor.type.with_shape(shape), {tensor.id});
  auto common = common_shape(tensor.type.shape, shape);
  if (!common || *common != shape)
    return fail(DiagKind::kShapeMismatch, span,
                fmt::format("{} cannot be broadcast to {}", describe(tensor), shape_text(shape)));
  ir::ValueId id = tensor.id;
  while (module.type(id).shape.size() < shape.size())
    id = emit(Op::ExpandDims, {id}, {{"axis", int64_t{0}}});
  if (module.type(id).shape != shape)
    id = emit_as(Op::Broadcast, tensor.type.with_shape(shape), {id});
  return wrap(id);
}

bool Lowering::broadcast_pair(Value& a, Value& b, Span span) {
  if (a.is_error() || b.is_error()) return false;
  auto common = common_shape(a.type.shape, b.type.shape);
  if (!common) {
    fail(DiagKind::kShapeMismatch, span,
         fmt::format("{} and {} cannot be broadcast to one shape", describe(a), describe(b)));
    return false;
  }
  if (!check_shape(*common, span)) return false;
  a = broadcast_to(a, *common, span);
  b = broadcast_to(b, *common, span);
  return true;
}

bool Lowering::check_shape(const ir::Shape& shape, Span span) {
  constexpr int64_t kMaxElements = int64_t{1} << 20;
  if (shape.size() > 5) {
    fail(DiagKind::kTileTooLarge, span,
         fmt::format("a tile of shape {} has {} dimensions, at most 5 are allowed",
                     shape_text(shape), shape.size()));
    return false;
  }
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || !std::has_single_bit(static_cast<uint64_t>(extent))) {
      std::string next;
      if (extent > 0 && extent <= kMaxElements)
        next = fmt::format("; the next one is {} (mask the rest)",
                           std::bit_ceil(static_cast<uint64_t>(extent)));
      fail(DiagKind::kNotPowerOfTwo, span,
           fmt::format("extent {} of a tile is not a power of two{}", extent, next));
      return false;
    }
    count = extent > kMaxElements || count > kMaxElements ? kMaxElements + 1 : count * extent;
  }
  if (count > kMaxElements) {
    fail(
        DiagKind::kTileTooLarge, span,
        fmt::format("a tile of shape {} has more than 2^20 = 1048576 elements", shape_text(shape)));
    return false;
  }
  return true;
}

}  // namespace tilewright::frontend
