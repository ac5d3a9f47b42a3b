// Conversions between number formats, by integer arithmetic on their bits where x86 has no exact
// instruction. All rounding is to nearest even unless toward zero is asked for.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "codegen/cpu/calc.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using V = Calc::V;

std::string compute_type(Dtype dtype) {
  return dtype == Dtype::kF64 ? "double" : "float";
}

namespace {

std::string image_type(Dtype dtype) {
  return "i" + std::to_string(dtype_bits(dtype));
}

V f16_to_float(const Calc& any, const V& bits) {
  V half = any.as("i16").bitcast(bits, "half");
  return any.as("half").convert("fpext", half, "float");
}

V bf16_to_float(const Calc& any, const V& bits) {
  V wide = any.as("i16").convert("zext", bits, "i32");
  return any.as("i32").bitcast(any.as("i32").shl(wide, 16), "float");
}

// e5m2 is the upper byte of an f16.
V e5m2_to_float(const Calc& any, const V& bits) {
  V wide = any.as("i8").convert("zext", bits, "i16");
  return f16_to_float(any, any.as("i16").shl(wide, 8));
}

// The magnitude, moved below an f16's exponent, is 2^-8 times too small; subnormals come out right.
V e4m3_to_float(const Calc& any, const V& bits) {
  Calc i8 = any.as("i8"), i16 = any.as("i16"), f = any.as("float");
  V wide = i8.convert("zext", bits, "i16");
  V magnitude = i16.shl(i16.and_(wide, i16.ci(0x7f)), 7);
  V sign = i16.shl(i16.and_(wide, i16.ci(0x80)), 8);
  V value = f.fmul(f16_to_float(any, i16.or_(sign, magnitude)), f.c(256));
  V is_nan = i8.icmp("eq", i8.and_(bits, i8.ci(0x7f)), i8.ci(0x7f));
  return f.select(is_nan, f.c(std::bit_cast<double>(uint64_t{0x7ff8} << 48)), value);
}

// float -> f16. The hardware rounds to nearest even; one step back is toward zero.
V float_to_f16(const Calc& any, const V& value, bool toward_zero) {
  Calc f = any.as("float"), half = any.as("half"), i16 = any.as("i16");
  V rounded = f.convert("fptrunc", value, "half");
  V bits = half.bitcast(rounded, "i16");
  if (!toward_zero) return bits;
  V back = f.intrinsic("fabs", {half.convert("fpext", rounded, "float")});
  V above = f.fcmp("ogt", back, f.intrinsic("fabs", {value}));
  return i16.select(above, i16.sub(bits, i16.ci(1)), bits);
}

V float_to_bf16(const Calc& any, const V& value, bool toward_zero) {
  Calc f = any.as("float"), i32 = any.as("i32");
  V bits = f.bitcast(value, "i32");
  V rounded = bits;
  if (!toward_zero) {
    V odd = i32.and_(i32.lshr(bits, 16), i32.ci(1));
    rounded = i32.add(bits, i32.add(odd, i32.ci(0x7fff)));
  }
  // Rounding may carry a NaN's payload away; a quiet bit keeps it a NaN.
  V quiet = i32.or_(bits, i32.ci(0x400000));
  rounded = i32.select(f.fcmp("uno", value, value), quiet, rounded);
  return i32.convert("trunc", i32.lshr(rounded, 16), "i16");
}

struct Fp8 {
  int fraction, bias;
  int64_t largest, nan;
};

// float -> fp8, saturating.
V float_to_fp8(const Calc& any, const V& value, const Fp8& format, bool toward_zero) {
  Calc f = any.as("float"), i32 = any.as("i32");
  V bits = f.bitcast(value, "i32");
  V magnitude = i32.and_(bits, i32.ci(0x7fffffff));
  V sign = i32.and_(i32.lshr(bits, 24), i32.ci(0x80));
  int dropped = 23 - format.fraction;
  V rounded = magnitude;
  if (!toward_zero) {
    V odd = i32.and_(i32.lshr(magnitude, dropped), i32.ci(1));
    rounded = i32.add(magnitude, i32.add(odd, i32.ci((1 << (dropped - 1)) - 1)));
  }
  V normal = i32.sub(i32.lshr(rounded, dropped), i32.ci((127 - format.bias) << format.fraction));
  // Below the smallest normal number: a multiple of the smallest subnormal, which is the spacing of
  // floats at `anchor`, so that adding it rounds.
  double smallest_normal = std::exp2(1 - format.bias);
  double quantum = smallest_normal / (1 << format.fraction);
  V absolute = i32.bitcast(magnitude, "float");
  V subnormal;
  if (toward_zero) {
    V small = f.intrinsic("minnum", {absolute, f.c(smallest_normal)});
    subnormal = f.convert("fptoui", f.fmul(small, f.c(1 / quantum)), "i32");
  } else {
    double anchor = quantum * 8388608.0;
    V sum = f.bitcast(f.fadd(absolute, f.c(anchor)), "i32");
    subnormal = i32.sub(sum, i32.ci(std::bit_cast<int32_t>(static_cast<float>(anchor))));
  }
  V is_small = f.fcmp("olt", absolute, f.c(smallest_normal));
  V out = i32.select(is_small, subnormal, normal);
  out = i32.select(i32.icmp("ugt", out, i32.ci(format.largest)), i32.ci(format.largest), out);
  // Huge magnitudes may wrap in the subtraction above only when they are NaN, handled here.
  out = i32.select(f.fcmp("uno", value, value), i32.ci(format.nan), out);
  return i32.convert("trunc", i32.or_(out, sign), "i8");
}

// float from double, rounded toward zero.
V truncated_float_bits(const Calc& any, const V& value, V* is_inexact) {
  Calc d = any.as("double"), f = any.as("float"), i32 = any.as("i32");
  V nearest = d.convert("fptrunc", value, "float");
  V back = f.convert("fpext", nearest, "double");
  V above = d.fcmp("ogt", d.intrinsic("fabs", {back}), d.intrinsic("fabs", {value}));
  V bits = f.bitcast(nearest, "i32");
  if (is_inexact) *is_inexact = d.fcmp("one", back, value);
  return i32.select(above, i32.sub(bits, i32.ci(1)), bits);
}

// double -> float on the way to a narrower format: rounded to odd (toward zero, lowest bit set if
// inexact), so that the second rounding sees on which side of a tie the number was.
V double_to_odd_float(const Calc& any, const V& value) {
  Calc i32 = any.as("i32");
  V inexact;
  V bits = truncated_float_bits(any, value, &inexact);
  V sticky = any.as("i1").convert("zext", inexact, "i32");
  return i32.bitcast(i32.or_(bits, sticky), "float");
}

V double_to_float_toward_zero(const Calc& any, const V& value) {
  return any.as("i32").bitcast(truncated_float_bits(any, value, nullptr), "float");
}

V float_to_narrow(const Calc& any, const V& value, Dtype dtype, bool toward_zero) {
  switch (dtype) {
    case Dtype::kF16:
      return float_to_f16(any, value, toward_zero);
    case Dtype::kBF16:
      return float_to_bf16(any, value, toward_zero);
    case Dtype::kF8E4M3:
      return float_to_fp8(any, value, {3, 7, 0x7e, 0x7f}, toward_zero);
    case Dtype::kF8E5M2:
      return float_to_fp8(any, value, {2, 15, 0x7b, 0x7e}, toward_zero);
    default:
      break;
  }
  TW_UNREACHABLE("no narrow float format");
}

V float_cast(const Calc& any, const V& value, Dtype from, Dtype to, bool toward_zero) {
  if (from == to && from != Dtype::kF8E5M2) return value;  // infinities saturate
  V wide = to_compute(any, value, from);
  if (to == Dtype::kF64) return any.as("float").convert("fpext", wide, "double");
  if (to == Dtype::kF32) {
    if (from != Dtype::kF64) return wide;
    return toward_zero ? double_to_float_toward_zero(any, wide)
                       : any.as("double").convert("fptrunc", wide, "float");
  }
  if (from == Dtype::kF64) wide = double_to_odd_float(any, wide);
  return float_to_narrow(any, wide, to, toward_zero);
}

V float_to_int(const Calc& any, const V& value, Dtype from, Dtype to) {
  Calc wide = any.as(compute_type(from));
  V x = to_compute(any, value, from);
  if (to == Dtype::kI1) return wide.fcmp("une", x, wide.c(0));
  std::string name = is_signed(to) ? "fptosi" : "fptoui";
  std::string result = vector_type(image_type(to), any.width());
  std::string function =
      fmt::format("@llvm.{}.sat.{}.{}", name, intrinsic_suffix(image_type(to), any.width()),
                  intrinsic_suffix(wide.element(), any.width()));
  any.emitter().declare(fmt::format("declare {} {}({})", result, function, wide.type()));
  return any.emitter().text.let(fmt::format("call {} {}({} {})", result, function, wide.type(), x));
}

V int_to_float(const Calc& any, const V& value, Dtype from, Dtype to, bool toward_zero) {
  Calc ints = any.as(image_type(from));
  std::string_view convert = is_signed(from) ? "sitofp" : "uitofp";
  if (to == Dtype::kF64) return ints.convert(convert, value, "double");
  V narrow = ints.convert(convert, value, "float");
  return to == Dtype::kF32 ? narrow : float_to_narrow(any, narrow, to, toward_zero);
}

V int_to_int(const Calc& any, const V& value, Dtype from, Dtype to) {
  Calc ints = any.as(image_type(from));
  if (to == Dtype::kI1) return from == to ? value : ints.icmp("ne", value, ints.ci(0));
  int a = dtype_bits(from), b = dtype_bits(to);
  if (a == b) return value;
  if (a > b) return ints.convert("trunc", value, image_type(to));
  return ints.convert(is_signed(from) ? "sext" : "zext", value, image_type(to));
}

}  // namespace

V to_compute(const Calc& any, const V& value, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return f16_to_float(any, value);
    case Dtype::kBF16:
      return bf16_to_float(any, value);
    case Dtype::kF8E5M2:
      return e5m2_to_float(any, value);
    case Dtype::kF8E4M3:
      return e4m3_to_float(any, value);
    default:
      return value;
  }
}

V from_compute(const Calc& any, const V& value, Dtype dtype, bool toward_zero) {
  if (dtype == Dtype::kF32 || dtype == Dtype::kF64) return value;
  return float_to_narrow(any, value, dtype, toward_zero);
}

V round_tf32(const Calc& floats, const V& value) {
  Calc i32 = floats.as("i32");
  V bits = floats.bitcast(value, "i32");
  V exponent = i32.and_(bits, i32.ci(0x7f800000));
  V rounded = i32.and_(i32.add(bits, i32.ci(0x1000)), i32.ci(~0x1fff));
  V special = i32.icmp("eq", exponent, i32.ci(0x7f800000));
  return i32.bitcast(i32.select(special, bits, rounded), "float");
}

V cast_lanes(const Calc& any, const V& value, const ir::Type& from, const ir::Type& to,
             bool toward_zero) {
  if (from.is_pointer && to.is_pointer) return value;
  if (from.is_pointer) {
    V bits = any.as("ptr").convert("ptrtoint", value, "i64");
    return int_to_int(any, bits, Dtype::kU64, to.dtype);
  }
  if (to.is_pointer) {
    V bits = int_to_int(any, value, from.dtype, Dtype::kI64);
    return any.as("i64").convert("inttoptr", bits, "ptr");
  }
  if (is_float(from.dtype) && is_float(to.dtype))
    return float_cast(any, value, from.dtype, to.dtype, toward_zero);
  if (is_float(from.dtype)) return float_to_int(any, value, from.dtype, to.dtype);
  if (is_float(to.dtype)) return int_to_float(any, value, from.dtype, to.dtype, toward_zero);
  return int_to_int(any, value, from.dtype, to.dtype);
}

}  // namespace tilewright::cpu
