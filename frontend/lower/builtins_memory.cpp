// Loads, stores and atomics through pointers.
#include <fmt/format.h>

#include "dsl/base/numeric.h"
#include "frontend/fold.h"
#include "frontend/lower/block_pointer.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

namespace {

struct Word {
  std::string_view written;
  std::string_view attr;
};

// Sets an attribute from a word of Triton's; false and a diagnostic for other words.
template <size_t N>
bool set_word(Lowering& lw, const Call& call, size_t index, std::string_view key,
              const Word (&words)[N], ir::Attrs& attrs) {
  auto written = lw.constant_string(call, index);
  if (!written) return false;
  if (written->empty()) return true;
  std::string legal;
  for (const Word& word : words) {
    if (*written == word.written) {
      attrs.set(key, std::string(word.attr));
      return true;
    }
    legal += fmt::format("{}'{}'", legal.empty() ? "" : ", ", word.written);
  }
  lw.fail(DiagKind::kBadArgument, call.spans[index],
          fmt::format("'{}' is no {} of '{}'; it takes {}", *written,
                      builtin_params(*call.builtin)[index].name, call.name, legal));
  return false;
}

constexpr Word kLoadCache[] = {{".ca", "ca"}, {".cg", "cg"}, {".cv", "cv"}, {".cs", "cs"}};
constexpr Word kStoreCache[] = {{".wb", "wb"}, {".cg", "cg"}, {".cs", "cs"}, {".wt", "wt"}};
constexpr Word kEviction[] = {
    {"evict_first", "first"}, {"evict_last", "last"}, {"evict_normal", "normal"}};
constexpr Word kSem[] = {
    {"relaxed", "relaxed"}, {"acquire", "acquire"}, {"release", "release"}, {"acq_rel", "acq_rel"}};
constexpr Word kScope[] = {{"cta", "cta"}, {"gpu", "gpu"}, {"sys", "sys"}};

Value pointer_argument(Lowering& lw, const Call& call) {
  const Value& pointer = call.args[0];
  if (pointer.is_error() || pointer.is_pointer()) return pointer;
  return lw.fail(DiagKind::kBadArgument, call.spans[0],
                 fmt::format("'{}' needs a pointer or a tile of pointers, but this is {}",
                             call.name, describe(pointer)));
}

// A mask as int1, or none when it is absent.
std::optional<Value> mask_argument(Lowering& lw, const Call& call, size_t index) {
  const Value& mask = call.args[index];
  if (mask.is_none()) return mask;
  if (mask.is_number()) {
    Value constant = Value::boolean(truth(mask.constant));
    return lw.to_tensor(constant, call.spans[index]);
  }
  if (mask.is_tensor() && !mask.type.is_pointer && mask.type.dtype == Dtype::kI1) return mask;
  if (!mask.is_error())
    lw.fail(DiagKind::kTypeMismatch, call.spans[index],
            fmt::format("a mask must be int1, but this is {}; compare with 0 to make one",
                        describe(mask)));
  return std::nullopt;
}

bool scalar_pointer_takes(Lowering& lw, const Call& call, size_t index, const Value& value,
                          std::string_view what) {
  if (value.is_none() || !value.is_tile()) return true;
  lw.fail(DiagKind::kShapeMismatch, call.spans[index],
          fmt::format("the pointer is a scalar, so the {} must be one too, but it is {}", what,
                      describe(call.args[index])));
  return false;
}

Value load_pointers(Lowering& lw, const Call& call, ir::Attrs attrs) {
  Value pointer = pointer_argument(lw, call);
  auto mask = mask_argument(lw, call, 1);
  Value other = call.args[2];
  if (pointer.is_error() || !mask || other.is_error()) return Value::error();
  if (!call.args[3].elements.empty() || call.args[3].is_integer())
    return lw.fail(DiagKind::kBadArgument, call.spans[3],
                   "boundary_check works on block pointers only; use mask here");
  if (mask->is_none() && !other.is_none())
    return lw.fail(DiagKind::kBadArgument, call.spans[2],
                   "'other' replaces masked-off elements and needs a mask");
  if (!other.is_none()) {
    other = convert_to(lw, other, pointer.type.dtype, call.spans[2]);
    if (other.is_error()) return other;
  }
  if (pointer.type.is_scalar()) {
    if (!scalar_pointer_takes(lw, call, 1, *mask, "mask") ||
        !scalar_pointer_takes(lw, call, 2, other, "value of 'other'"))
      return Value::error();
  }
  std::vector<ir::ValueId> operands;
  if (!mask->is_none()) {
    if (!lw.broadcast_pair(pointer, *mask, call.spans[1])) return Value::error();
    if (!other.is_none()) {
      // `other` may widen the pointers too, and then the mask with them.
      if (!lw.broadcast_pair(pointer, other, call.spans[2])) return Value::error();
      mask = lw.broadcast_to(*mask, pointer.type.shape, call.spans[1]);
      if (mask->is_error()) return *mask;
    }
    operands = {pointer.id, mask->id};
    if (!other.is_none()) operands.push_back(other.id);
  } else {
    operands = {pointer.id};
  }
  return lw.emit_value(Op::Load, operands, attrs);
}

// Brings a value and a mask to the pointer's shape, which does not widen.
bool fit_to_pointer(Lowering& lw, const Call& call, size_t index, Value& value,
                    const Value& pointer, std::string_view what) {
  if (pointer.type.is_scalar()) return scalar_pointer_takes(lw, call, index, value, what);
  auto common = lw.common_shape(value.type.shape, pointer.type.shape);
  if (!common || *common != pointer.type.shape) {
    lw.fail(DiagKind::kShapeMismatch, call.spans[index],
            fmt::format("the {} is {} and cannot be broadcast to the pointers' shape {}", what,
                        describe(call.args[index]), shape_text(pointer.type.shape)));
    return false;
  }
  value = lw.broadcast_to(value, pointer.type.shape, call.spans[index]);
  return !value.is_error();
}

}  // namespace

Value convert_to(Lowering& lw, const Value& value, Dtype dtype, Span span) {
  if (value.is_number()) {
    // Folded here: `other=0.0` for an integer pointer is the constant 0.
    Dtype from = lw.number_dtype(value.constant);
    uint64_t bits = is_float(from) ? float_to_bits(as_double(value.constant), from)
                                   : int_to_bits(value.constant.integer, from);
    uint64_t converted = convert_bits(bits, from, dtype);
    ir::Type type = ir::Type::scalar(dtype);
    return lw.wrap(is_float(dtype)
                       ? lw.builder.constant_float(type, bits_to_float(converted, dtype))
                       : lw.builder.constant_int(type, bits_to_int(converted, dtype)));
  }
  Value tensor = lw.to_tensor(value, span, "value");
  if (tensor.is_error()) return tensor;
  if (tensor.type.is_pointer && dtype_bits(dtype) != 64)
    return lw.fail(
        DiagKind::kTypeMismatch, span,
        fmt::format("{} cannot be converted to {}", describe(tensor), dtype_triton_name(dtype)));
  if (tensor.type.is_pointer && is_float(dtype))
    return lw.fail(DiagKind::kTypeMismatch, span,
                   fmt::format("{} cannot be converted to a float", describe(tensor)));
  return lw.cast(tensor, dtype);
}

Value lower_load(Lowering& lw, const Call& call) {
  ir::Attrs attrs;
  bool good = set_word(lw, call, 5, "cache", kLoadCache, attrs) &
              set_word(lw, call, 6, "evict", kEviction, attrs);
  auto is_volatile = lw.constant_bool(call, 7);
  if (!good || !is_volatile) return Value::error();
  if (*is_volatile) attrs.set("volatile", int64_t{1});
  if (call.args[0].kind == Kind::kBlockPointer) return load_block(lw, call, std::move(attrs));
  return load_pointers(lw, call, std::move(attrs));
}

Value lower_store(Lowering& lw, const Call& call) {
  ir::Attrs attrs;
  if (!set_word(lw, call, 4, "cache", kStoreCache, attrs) ||
      !set_word(lw, call, 5, "evict", kEviction, attrs))
    return Value::error();
  if (call.args[0].kind == Kind::kBlockPointer) return store_block(lw, call, std::move(attrs));
  Value pointer = pointer_argument(lw, call);
  auto mask = mask_argument(lw, call, 2);
  if (pointer.is_error() || !mask) return Value::error();
  if (!call.args[3].elements.empty() || call.args[3].is_integer())
    return lw.fail(DiagKind::kBadArgument, call.spans[3],
                   "boundary_check works on block pointers only; use mask here");
  Value value = convert_to(lw, call.args[1], pointer.type.dtype, call.spans[1]);
  if (value.is_error() || !fit_to_pointer(lw, call, 1, value, pointer, "value"))
    return Value::error();
  std::vector<ir::ValueId> operands = {pointer.id, value.id};
  if (!mask->is_none()) {
    if (!fit_to_pointer(lw, call, 2, *mask, pointer, "mask")) return Value::error();
    operands.push_back(mask->id);
  }
  lw.builder.make_op(Op::Store, operands, attrs, {});
  return Value::none();
}

namespace {

// The dtypes that Triton's atomics work on.
bool atomic_allows(std::string_view op, Dtype dtype) {
  if (op == "cas") return dtype_bits(dtype) >= 16;
  if (is_float(dtype)) {
    if (op == "add") return dtype_bits(dtype) >= 16;
    return dtype_bits(dtype) >= 32 && (op == "max" || op == "min" || op == "xchg");
  }
  return dtype_bits(dtype) >= 32;
}

}  // namespace

Value lower_atomic_rmw(Lowering& lw, const Call& call) {
  ir::Attrs attrs{{"op", std::string(call.builtin->detail)}};
  if (!set_word(lw, call, 3, "sem", kSem, attrs) || !set_word(lw, call, 4, "scope", kScope, attrs))
    return Value::error();
  Value pointer = pointer_argument(lw, call);
  auto mask = mask_argument(lw, call, 2);
  if (pointer.is_error() || !mask) return Value::error();
  if (!atomic_allows(call.builtin->detail, pointer.type.dtype))
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("'{}' does not work on {}; integers of 32 and 64 bits always do",
                               call.name, dtype_triton_name(pointer.type.dtype)));
  Value value = convert_to(lw, call.args[1], pointer.type.dtype, call.spans[1]);
  if (value.is_error() || !fit_to_pointer(lw, call, 1, value, pointer, "value"))
    return Value::error();
  std::vector<ir::ValueId> operands = {pointer.id, value.id};
  if (!mask->is_none()) {
    if (!fit_to_pointer(lw, call, 2, *mask, pointer, "mask")) return Value::error();
    operands.push_back(mask->id);
  }
  return lw.emit_value(Op::AtomicRmw, operands, attrs);
}

Value lower_atomic_cas(Lowering& lw, const Call& call) {
  ir::Attrs attrs;
  if (!set_word(lw, call, 3, "sem", kSem, attrs) || !set_word(lw, call, 4, "scope", kScope, attrs))
    return Value::error();
  Value pointer = pointer_argument(lw, call);
  if (pointer.is_error()) return pointer;
  if (!atomic_allows("cas", pointer.type.dtype))
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   fmt::format("'{}' works on elements of 16, 32 and 64 bits, not on {}", call.name,
                               dtype_triton_name(pointer.type.dtype)));
  std::vector<ir::ValueId> operands = {pointer.id};
  for (size_t i : {size_t{1}, size_t{2}}) {
    Value value = convert_to(lw, call.args[i], pointer.type.dtype, call.spans[i]);
    if (value.is_error() ||
        !fit_to_pointer(lw, call, i, value, pointer, i == 1 ? "value of 'cmp'" : "value"))
      return Value::error();
    operands.push_back(value.id);
  }
  return lw.emit_value(Op::AtomicCas, operands, attrs);
}

}  // namespace tilewright::frontend
