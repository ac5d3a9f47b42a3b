// Functions of one operand. Float lanes use polynomials written out below, which LLVM keeps in
// vectors; double lanes and erf call libm lane by lane. Error bounds are those of dsl/LANGUAGE.md
// and are measured by tests/unit/cpu/math_test.cpp.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "codegen/cpu/calc.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {
namespace {

using V = Calc::V;
using ir::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

V horner(const Calc& c, const V& x, std::initializer_list<double> high_to_low) {
  V sum;
  for (double coefficient : high_to_low)
    sum = sum.empty() ? c.c(coefficient) : c.fma(sum, x, c.c(coefficient));
  return sum;
}

// A float near an integer: the integer is in the low bits of the sum with 1.5 * 2^23. Unlike a
// conversion it is defined for NaN.
struct Rounded {
  V value;    // as float
  V integer;  // as i32
};
Rounded round_to_integer(const Calc& f, const V& x) {
  constexpr double kMagic = 12582912.0;
  V sum = f.fadd(x, f.c(kMagic));
  V bits = f.bitcast(sum, "i32");
  V integer = f.as("i32").sub(bits, f.as("i32").ci(0x4b400000));
  return {f.fsub(sum, f.c(kMagic)), integer};
}

// 2^n for the exponent bits of a float, -126 <= n <= 127.
V power_of_two(const Calc& f, const V& n) {
  Calc i = f.as("i32");
  return i.bitcast(i.shl(i.add(n, i.ci(127)), 23), "float");
}

// e^r 2^n for |r| <= ln(2)/2. Scaling by two factors keeps subnormal results and reaches infinity.
V scaled_exp(const Calc& f, const V& r, const V& n) {
  V p = horner(f, r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  Calc i = f.as("i32");
  V half = i.ashr(n, 1);
  return f.fmul(f.fmul(p, power_of_two(f, half)), power_of_two(f, i.sub(n, half)));
}

V clamp(const Calc& f, const V& x, double low, double high) {
  V above = f.select(f.fcmp("olt", x, f.c(low)), f.c(low), x);  // NaN stays
  return f.select(f.fcmp("ogt", above, f.c(high)), f.c(high), above);
}

V exp_float(const Calc& f, const V& input) {
  V x = clamp(f, input, -104, 89);
  Rounded n = round_to_integer(f, f.fmul(x, f.c(static_cast<float>(M_LOG2E))));
  V r = f.fma(n.value, f.c(-0.693145751953125), x);  // the upper bits of ln 2, exact products
  r = f.fma(n.value, f.c(static_cast<float>(-1.42860682030941723212e-6)), r);
  return scaled_exp(f, r, n.integer);
}

V exp2_float(const Calc& f, const V& input) {
  V x = clamp(f, input, -151, 129);
  Rounded n = round_to_integer(f, x);
  V r = f.fmul(f.fsub(x, n.value), f.c(static_cast<float>(M_LN2)));
  return scaled_exp(f, r, n.integer);
}

// x = m 2^k with m in [sqrt(1/2), sqrt(2)), for positive x; subnormals are scaled up first.
struct Decomposed {
  V fraction;  // m - 1
  V exponent;  // k as float
};
Decomposed decompose(const Calc& f, const V& x) {
  Calc i = f.as("i32");
  V small = f.fcmp("olt", x, f.c(0x1p-126));
  V normal = f.select(small, f.fmul(x, f.c(0x1p23)), x);
  V bits = f.bitcast(normal, "i32");
  // The exponent changes where the fraction passes sqrt(2): shift the bits of sqrt(1/2) to zero.
  constexpr int64_t kSqrtHalf = 0x3f3504f3;
  V k = i.ashr(i.sub(bits, i.ci(kSqrtHalf)), 23);
  V m = i.bitcast(i.sub(bits, i.shl(k, 23)), "float");
  k = i.sub(k, i.select(small, i.ci(23), i.ci(0)));
  return {f.fsub(m, f.c(1)), i.convert("sitofp", k, "float")};
}

// log(1 + t) = t - (h - s (h + R)), s = t / (2 + t), h = t^2 / 2, R from the series of atanh. Gives
// the part in parentheses, so that callers add k ln 2 before cancellation.
struct Log1p {
  V t, h, correction;  // log(1 + t) = t - (h - correction)
};
Log1p log1p_parts(const Calc& f, const V& t) {
  V s = f.fdiv(t, f.fadd(t, f.c(2)));
  V z = f.fmul(s, s);
  V r = f.fmul(z, horner(f, z, {2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3}));
  V h = f.fmul(f.fmul(t, t), f.c(0.5));
  return {t, h, f.fmul(s, f.fadd(h, r))};
}

// The values at 0, infinity, NaN and below 0, which the arithmetic above does not give.
V log_special(const Calc& f, const V& x, const V& regular) {
  V y = f.select(f.fcmp("oeq", x, f.c(kInfinity)), x, regular);
  y = f.select(f.fcmp("oeq", x, f.c(0)), f.c(-kInfinity), y);
  V invalid = f.fcmp("ult", x, f.c(0));
  return f.select(invalid, f.c(std::bit_cast<double>(uint64_t{0x7ff8} << 48)), y);
}

V log_float(const Calc& f, const V& x) {
  Decomposed d = decompose(f, x);
  Log1p p = log1p_parts(f, d.fraction);
  V low = f.fma(d.exponent, f.c(static_cast<float>(9.0580006145e-6)), p.correction);
  V y = f.fsub(p.t, f.fsub(p.h, low));
  return log_special(f, x, f.fma(d.exponent, f.c(6.9313812256e-1f), y));
}

// log2(x) = k + log(m) / ln 2; the upper part of the product is exact, so that nothing is lost for
// m near 1.
V log2_float(const Calc& f, const V& x) {
  constexpr double kHigh = 1.4428710938, kLow = -1.7605285393e-4;  // 1/ln 2 in two parts
  Decomposed d = decompose(f, x);
  Log1p p = log1p_parts(f, d.fraction);
  // The upper 12 bits of t - h.
  V sum = f.fsub(p.t, p.h);
  V high =
      f.as("i32").bitcast(f.as("i32").and_(f.bitcast(sum, "i32"), f.as("i32").ci(~0xfff)), "float");
  V low = f.fadd(f.fsub(f.fsub(p.t, high), p.h), p.correction);
  V y = f.fmul(f.fadd(low, high), f.c(static_cast<float>(kLow)));
  y = f.fma(low, f.c(static_cast<float>(kHigh)), y);
  y = f.fma(high, f.c(static_cast<float>(kHigh)), y);
  return log_special(f, x, f.fadd(y, d.exponent));
}

// Any lane of a condition.
V any_of(const Calc& c, const V& condition) {
  if (c.width() == 1) return condition;
  std::string function = "@llvm.vector.reduce.or." + intrinsic_suffix("i1", c.width());
  std::string type = vector_type("i1", c.width());
  c.emitter().declare(fmt::format("declare i1 {}({})", function, type));
  return c.emitter().text.let(fmt::format("call i1 {}({} {})", function, type, condition));
}

// sin or cos of float lanes in double: x = n pi/2 + r, then the series of the quadrant. Beyond 2^40
// the reduction would lose its precision; such lanes are rare and go to libm.
V sin_cos_float(const Calc& f, const V& x, bool cosine) {
  Emitter& e = f.emitter();
  Calc d = f.as("double"), i = f.as("i64");
  V wide = f.convert("fpext", x, "double");
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  V sum = d.fadd(d.fmul(wide, d.c(M_2_PI)), d.c(kMagic));
  V n = d.fsub(sum, d.c(kMagic));
  V quadrant = d.bitcast(sum, "i64");
  if (cosine) quadrant = i.add(quadrant, i.ci(1));
  V r = d.fma(n, d.c(-M_PI_2), wide);
  r = d.fma(n, d.c(-6.123233995736766036e-17), r);
  V z = d.fmul(r, r);
  V sine = d.fma(d.fmul(r, z), horner(d, z, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}), r);
  V even = horner(d, z, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0});
  V use_even = i.icmp("ne", i.and_(quadrant, i.ci(1)), i.ci(0));
  V negate = i.icmp("ne", i.and_(quadrant, i.ci(2)), i.ci(0));
  V y = d.select(use_even, even, sine);
  y = d.select(negate, d.fneg(y), y);
  V near = d.convert("fptrunc", y, "float");
  // sin(-0) is -0.
  if (!cosine) near = f.select(f.fcmp("oeq", x, f.c(0)), x, near);

  V huge = f.fcmp("ogt", f.intrinsic("fabs", {x}), f.c(0x1p40));
  std::string slow = e.text.fresh_label("huge"), done = e.text.fresh_label("trig");
  std::string before = e.text.current_block();
  e.text.branch_if(any_of(f, huge), slow, done);
  e.text.start_block(slow);
  V far = f.select(huge, f.library_call(cosine ? "cosf" : "sinf", {x}), near);
  std::string after = e.text.current_block();
  e.text.branch(done);
  e.text.start_block(done);
  return e.text.let(
      fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", f.type(), near, before, far, after));
}

// tanh |x| = t / (t + 2) with t = e^(2|x|) - 1, in double: t keeps its precision near 0 because
// e^r - 1 is summed without its leading 1.
V tanh_float(const Calc& f, const V& x) {
  Calc d = f.as("double"), i = f.as("i64");
  V absolute = f.intrinsic("fabs", {x});
  V capped = f.select(f.fcmp("ogt", absolute, f.c(16)), f.c(16), absolute);
  V a = d.fmul(f.convert("fpext", capped, "double"), d.c(2));
  constexpr double kMagic = 6755399441055744.0;
  V sum = d.fadd(d.fmul(a, d.c(M_LOG2E)), d.c(kMagic));
  V n = d.fsub(sum, d.c(kMagic));
  V r = d.fma(n, d.c(-M_LN2), a);
  V series = horner(d, r,
                    {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                     1.0 / 24, 1.0 / 6, 0.5, 1.0});
  V less_one = d.fmul(r, series);
  V bits = i.add(d.bitcast(sum, "i64"), i.ci(1023 - std::bit_cast<int64_t>(kMagic)));
  V scale = i.bitcast(i.shl(bits, 52), "double");
  V t = d.fma(less_one, scale, d.fsub(scale, d.c(1)));
  V y = d.convert("fptrunc", d.fdiv(t, d.fadd(t, d.c(2))), "float");
  Calc i32 = f.as("i32");
  V sign = i32.and_(f.bitcast(x, "i32"), i32.ci(INT32_MIN));
  V out = i32.bitcast(i32.or_(f.bitcast(y, "i32"), sign), "float");
  return f.select(f.fcmp("uno", x, x), x, out);
}

V float_function(const Calc& f, Op op, const V& x) {
  switch (op) {
    case Op::Exp:
      return exp_float(f, x);
    case Op::Exp2:
      return exp2_float(f, x);
    case Op::Log:
      return log_float(f, x);
    case Op::Log2:
      return log2_float(f, x);
    case Op::Sin:
      return sin_cos_float(f, x, false);
    case Op::Cos:
      return sin_cos_float(f, x, true);
    case Op::Tanh:
      return tanh_float(f, x);
    case Op::Erf:
      return f.library_call("erff", {x});
    default:
      break;
  }
  TW_UNREACHABLE("no function of floats");
}

}  // namespace

V math_function(const Calc& calc, Op op, const V& x) {
  switch (op) {
    case Op::Sqrt:
    case Op::SqrtRn:
      return calc.intrinsic("sqrt", {x});
    case Op::Rsqrt:
      return calc.fdiv(calc.c(1), calc.intrinsic("sqrt", {x}));
    case Op::Floor:
      return calc.intrinsic("floor", {x});
    case Op::Ceil:
      return calc.intrinsic("ceil", {x});
    default:
      break;
  }
  if (calc.element() == "float") return float_function(calc, op, x);
  return calc.library_call(std::string(ir::op_info(op).mnemonic), {x});
}

}  // namespace tilewright::cpu
