#include "dsl/base/numeric.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "dsl/base/check.h"

namespace tilewright {
namespace {

// A binary format: exponent bias, fraction bits, total bits. `finite_only` formats have no infinity
// and one NaN pattern with all bits set (e4m3fn); `saturate` clips overflow to the largest finite.
struct Format {
  int bits, fraction, bias;
  bool finite_only, saturate;
};

Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF8E4M3:
      return {8, 3, 7, true, true};
    case Dtype::kF8E5M2:
      return {8, 2, 15, false, true};
    case Dtype::kF16:
      return {16, 10, 15, false, false};
    case Dtype::kBF16:
      return {16, 7, 127, false, false};
    case Dtype::kF32:
      return {32, 23, 127, false, false};
    default:
      break;
  }
  TW_UNREACHABLE("no narrow float format");
}

uint64_t ones(int count) {
  return (uint64_t{1} << count) - 1;
}

uint64_t nan_bits(const Format& f) {
  if (f.finite_only) return ones(f.bits - 1);
  int exponent_bits = f.bits - 1 - f.fraction;
  return (ones(exponent_bits) << f.fraction) | (uint64_t{1} << (f.fraction - 1));
}

uint64_t infinity_bits(const Format& f) {
  return ones(f.bits - 1 - f.fraction) << f.fraction;
}
uint64_t max_finite_bits(const Format& f) {
  return f.finite_only ? ones(f.bits - 1) - 1 : infinity_bits(f) - 1;
}

// `magnitude` scaled by 2^shift and rounded to an integer; shift is chosen so that the result is
// the format's significand.
double round_scaled(double magnitude, int shift, Rounding rounding) {
  double scaled = std::ldexp(magnitude, shift);
  double below = std::floor(scaled);
  if (rounding == Rounding::kTowardZero) return below;
  double rest = scaled - below;
  bool odd = std::fmod(below, 2.0) != 0.0;
  return rest > 0.5 || (rest == 0.5 && odd) ? below + 1 : below;
}

}  // namespace

uint64_t float_to_bits(double value, Dtype dtype, Rounding rounding) {
  if (dtype == Dtype::kF64) return std::bit_cast<uint64_t>(value);
  if (dtype == Dtype::kF32 && rounding == Rounding::kNearestEven)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  Format f = format_of(dtype);
  uint64_t sign = std::signbit(value) ? uint64_t{1} << (f.bits - 1) : 0;
  if (std::isnan(value)) return (f.bits == 8 ? sign : 0) | nan_bits(f);
  double magnitude = std::fabs(value);
  uint64_t overflow = f.saturate || (rounding == Rounding::kTowardZero && std::isfinite(value))
                          ? max_finite_bits(f)
                          : infinity_bits(f);
  if (std::isinf(value)) return sign | overflow;
  if (magnitude == 0) return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  auto significand =
      static_cast<uint64_t>(round_scaled(magnitude, f.fraction - exponent, rounding));
  // A carry out of the significand moves into the exponent by plain addition, subnormals included.
  uint64_t biased = static_cast<uint64_t>(exponent + f.bias);
  uint64_t result = significand >= (uint64_t{1} << f.fraction)
                        ? ((biased - 1) << f.fraction) + significand
                        : significand;
  return sign | (result > max_finite_bits(f) ? overflow : result);
}

double bits_to_float(uint64_t bits, Dtype dtype) {
  if (dtype == Dtype::kF64) return std::bit_cast<double>(bits);
  if (dtype == Dtype::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  Format f = format_of(dtype);
  double sign = (bits >> (f.bits - 1)) & 1 ? -1.0 : 1.0;
  uint64_t magnitude = bits & ones(f.bits - 1);
  if (magnitude > (f.finite_only ? max_finite_bits(f) : infinity_bits(f)))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (!f.finite_only && magnitude == infinity_bits(f))
    return sign * std::numeric_limits<double>::infinity();
  uint64_t exponent = magnitude >> f.fraction, fraction = magnitude & ones(f.fraction);
  if (exponent == 0)
    return sign * std::ldexp(static_cast<double>(fraction), 1 - f.bias - f.fraction);
  return sign * std::ldexp(static_cast<double>(fraction + (uint64_t{1} << f.fraction)),
                           static_cast<int>(exponent) - f.bias - f.fraction);
}

int64_t bits_to_int(uint64_t bits, Dtype dtype) {
  int width = dtype_bits(dtype);
  if (width == 64) return static_cast<int64_t>(bits);
  bits &= ones(width);
  if (is_signed(dtype) && (bits >> (width - 1)) & 1) bits |= ~ones(width);
  return static_cast<int64_t>(bits);
}

uint64_t int_to_bits(int64_t value, Dtype dtype) {
  int width = dtype_bits(dtype);
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ones(width);
}

uint64_t float_to_int_bits(double value, Dtype dtype) {
  if (dtype == Dtype::kI1) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  int width = dtype_bits(dtype);
  bool is_signed_type = is_signed(dtype);
  double limit = std::ldexp(1.0, is_signed_type ? width - 1 : width);
  if (value >= limit)
    return is_signed_type ? ones(width - 1) : (width == 64 ? ~uint64_t{0} : ones(width));
  if (!is_signed_type) return value <= 0 ? 0 : static_cast<uint64_t>(value);
  if (value <= -limit) return uint64_t{1} << (width - 1);
  return int_to_bits(static_cast<int64_t>(value), dtype);
}

uint64_t convert_bits(uint64_t bits, Dtype from, Dtype to, Rounding rounding) {
  if (is_float(from)) {
    double value = bits_to_float(bits, from);
    return is_float(to) ? float_to_bits(value, to, rounding) : float_to_int_bits(value, to);
  }
  int64_t value = bits_to_int(bits, from);
  if (to == Dtype::kI1) return value != 0 ? 1 : 0;
  if (is_int(to)) return int_to_bits(value, to);
  if (from == Dtype::kU64) {
    auto wide = static_cast<uint64_t>(value);
    if (to == Dtype::kF64) return std::bit_cast<uint64_t>(static_cast<double>(wide));
    return float_to_bits(static_cast<double>(static_cast<float>(wide)), to, rounding);
  }
  if (to == Dtype::kF64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  // Integers reach the narrow formats through f32 (LANGUAGE.md, integer to float).
  return float_to_bits(static_cast<double>(static_cast<float>(value)), to, rounding);
}

float round_to_tf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
}

}  // namespace tilewright
