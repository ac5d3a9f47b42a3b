#include "codegen/passes/fold.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::passes {
namespace {

using ir::Op;

struct Args {
  const ir::OpNode& op;
  Dtype dtype;  // of the first operand
  std::span<const uint64_t> x;

  int64_t as_int(size_t i) const { return bits_to_int(x[i], dtype); }
  double as_double(size_t i) const { return bits_to_float(x[i], dtype); }
  int width() const { return dtype_bits(dtype); }
  uint64_t wrap(uint64_t value) const { return int_to_bits(static_cast<int64_t>(value), dtype); }
  uint64_t sign_bit() const { return uint64_t{1} << (width() - 1); }
};

using Bits = std::optional<uint64_t>;

// ---- integers ----

uint64_t divide(const Args& a) {
  if (a.x[1] == 0) return a.wrap(~uint64_t{0});
  if (!is_signed(a.dtype)) return a.x[0] / a.x[1];
  return a.as_int(1) == -1 ? a.wrap(0 - a.x[0]) : int_to_bits(a.as_int(0) / a.as_int(1), a.dtype);
}

uint64_t remainder(const Args& a) {
  if (a.x[1] == 0) return a.x[0];
  if (!is_signed(a.dtype)) return a.x[0] % a.x[1];
  return a.as_int(1) == -1 ? 0 : int_to_bits(a.as_int(0) % a.as_int(1), a.dtype);
}

uint64_t shift_right(const Args& a) {
  auto width = static_cast<uint64_t>(a.width());
  if (is_signed(a.dtype)) return int_to_bits(a.as_int(0) >> std::min(a.x[1], width - 1), a.dtype);
  return a.x[1] >= width ? 0 : a.x[0] >> a.x[1];
}

uint64_t multiply_high(const Args& a) {
  if (is_signed(a.dtype)) {
    __int128 product = static_cast<__int128>(a.as_int(0)) * a.as_int(1);
    return a.wrap(static_cast<uint64_t>(product >> a.width()));
  }
  unsigned __int128 product = static_cast<unsigned __int128>(a.x[0]) * a.x[1];
  return a.wrap(static_cast<uint64_t>(product >> a.width()));
}

bool int_less(const Args& a) {
  return is_signed(a.dtype) ? a.as_int(0) < a.as_int(1) : a.x[0] < a.x[1];
}

Bits fold_int(const Args& a) {
  auto width = static_cast<uint64_t>(a.width());
  switch (a.op.op) {
    case Op::Add:
      return a.wrap(a.x[0] + a.x[1]);
    case Op::Sub:
      return a.wrap(a.x[0] - a.x[1]);
    case Op::Mul:
      return a.wrap(a.x[0] * a.x[1]);
    case Op::Div:
      return divide(a);
    case Op::Rem:
      return remainder(a);
    case Op::And:
      return a.x[0] & a.x[1];
    case Op::Or:
      return a.x[0] | a.x[1];
    case Op::Xor:
      return a.x[0] ^ a.x[1];
    case Op::Not:
      return a.wrap(~a.x[0]);
    case Op::Shl:
      return a.x[1] >= width ? 0 : a.wrap(a.x[0] << a.x[1]);
    case Op::Shr:
      return shift_right(a);
    case Op::MulHi:
      return multiply_high(a);
    case Op::Min:
      return int_less(a) ? a.x[0] : a.x[1];
    case Op::Max:
      return int_less(a) ? a.x[1] : a.x[0];
    case Op::Neg:
      return a.wrap(0 - a.x[0]);
    case Op::Abs:
      return is_signed(a.dtype) && a.as_int(0) < 0 ? a.wrap(0 - a.x[0]) : a.x[0];
    default:
      return std::nullopt;
  }
}

// ---- floats ----

// Formats below f64 compute in f32 and round once to the type.
template <class Function>
Bits compute(const Args& a, Function function) {
  if (a.dtype == Dtype::kF64) {
    double result = function(a.as_double(0), a.as_double(1));
    if (std::isnan(result)) return std::nullopt;
    return std::bit_cast<uint64_t>(result);
  }
  float result = function(static_cast<float>(a.as_double(0)), static_cast<float>(a.as_double(1)));
  if (std::isnan(result)) return std::nullopt;
  return float_to_bits(static_cast<double>(result), a.dtype);
}

Bits fused_multiply_add(const Args& a) {
  if (a.dtype == Dtype::kF64) {
    double result = std::fma(a.as_double(0), a.as_double(1), a.as_double(2));
    if (std::isnan(result)) return std::nullopt;
    return std::bit_cast<uint64_t>(result);
  }
  float result = std::fmaf(static_cast<float>(a.as_double(0)), static_cast<float>(a.as_double(1)),
                           static_cast<float>(a.as_double(2)));
  if (std::isnan(result)) return std::nullopt;
  return float_to_bits(static_cast<double>(result), a.dtype);
}

Bits min_or_max(const Args& a, bool want_max) {
  double x = a.as_double(0), y = a.as_double(1);
  bool x_nan = std::isnan(x), y_nan = std::isnan(y);
  if (x_nan && y_nan) return std::nullopt;
  if (x_nan || y_nan) {
    if (a.op.attrs.get_word("nan") == "propagate") return std::nullopt;
    return x_nan ? a.x[1] : a.x[0];
  }
  bool less = x == 0 && y == 0 ? std::signbit(x) && !std::signbit(y) : x < y;
  return less == want_max ? a.x[1] : a.x[0];
}

// The square root of a double rounds to the square root of the narrower format.
Bits exact_function(const Args& a, double (*function)(double)) {
  double result = function(a.as_double(0));
  if (std::isnan(result)) return std::nullopt;
  return float_to_bits(result, a.dtype);
}

Bits fold_float(const Args& a) {
  switch (a.op.op) {
    case Op::Add:
      return compute(a, [](auto x, auto y) { return x + y; });
    case Op::Sub:
      return compute(a, [](auto x, auto y) { return x - y; });
    case Op::Mul:
      return compute(a, [](auto x, auto y) { return x * y; });
    case Op::Div:
    case Op::DivRn:
      return compute(a, [](auto x, auto y) { return x / y; });
    case Op::Rem:
      return compute(a, [](auto x, auto y) { return std::fmod(x, y); });
    case Op::Fma:
      return fused_multiply_add(a);
    case Op::Min:
      return min_or_max(a, false);
    case Op::Max:
      return min_or_max(a, true);
    case Op::Neg:
      return a.x[0] ^ a.sign_bit();
    case Op::Abs:
      return a.x[0] & ~a.sign_bit();
    case Op::Sqrt:
    case Op::SqrtRn:
      return exact_function(a, [](double x) { return std::sqrt(x); });
    case Op::Floor:
      return exact_function(a, [](double x) { return std::floor(x); });
    case Op::Ceil:
      return exact_function(a, [](double x) { return std::ceil(x); });
    default:
      return std::nullopt;
  }
}

// ---- comparison and conversion ----

template <class T>
bool holds(std::string_view predicate, T a, T b) {
  if (predicate == "eq") return a == b;
  if (predicate == "ne") return a != b;
  if (predicate == "lt") return a < b;
  if (predicate == "le") return a <= b;
  if (predicate == "gt") return a > b;
  return a >= b;
}

uint64_t compare(const Args& a) {
  std::string_view predicate = a.op.attrs.get_word("pred");
  if (is_float(a.dtype)) return holds(predicate, a.as_double(0), a.as_double(1));
  if (is_signed(a.dtype)) return holds(predicate, a.as_int(0), a.as_int(1));
  return holds(predicate, a.x[0], a.x[1]);
}

uint64_t cast(const Args& a, const ir::Type& from, const ir::Type& to) {
  if (from.is_pointer && to.is_pointer) return a.x[0];
  Rounding rounding =
      a.op.attrs.get_word("rounding") == "rtz" ? Rounding::kTowardZero : Rounding::kNearestEven;
  return convert_bits(a.x[0], from.is_pointer ? Dtype::kU64 : from.dtype,
                      to.is_pointer ? Dtype::kU64 : to.dtype, rounding);
}

uint64_t pointer_add(const Args& a, std::span<const ir::Type> types) {
  auto offset = static_cast<uint64_t>(bits_to_int(a.x[1], types[1].dtype));
  return a.x[0] + offset * static_cast<uint64_t>(dtype_bytes(types[0].dtype));
}

}  // namespace

uint64_t constant_bits(const ir::AttrValue& value, const ir::Type& type) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return type.is_pointer ? static_cast<uint64_t>(*integer) : int_to_bits(*integer, type.dtype);
  return float_to_bits(std::get<double>(value), type.dtype);
}

std::optional<ir::AttrValue> constant_value(uint64_t bits, const ir::Type& type) {
  if (type.is_pointer) return ir::AttrValue(static_cast<int64_t>(bits));
  if (is_int(type.dtype)) return ir::AttrValue(bits_to_int(bits, type.dtype));
  double value = bits_to_float(bits, type.dtype);
  if (float_to_bits(value, type.dtype) != bits) return std::nullopt;
  return ir::AttrValue(value);
}

std::optional<uint64_t> fold_element(const ir::OpNode& op, std::span<const ir::Type> types,
                                     const ir::Type& result, std::span<const uint64_t> x) {
  Args a{op, types[0].dtype, x};
  switch (op.op) {
    case Op::Select:
      return x[0] ? x[1] : x[2];
    case Op::Cmp:
      return compare(a);
    case Op::Cast:
      return cast(a, types[0], result);
    case Op::Bitcast:
      return x[0];
    case Op::PtrAdd:
      return pointer_add(a, types);
    default:
      return is_float(a.dtype) ? fold_float(a) : fold_int(a);
  }
}

}  // namespace tilewright::passes
