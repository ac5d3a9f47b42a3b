// The functions' error, measured against long double over their whole range, is within the bounds
// of dsl/LANGUAGE.md; special values are exact.
#include <functional>
#include <map>

#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

// out = op(x), in tiles of 256.
std::string kernel(const std::string& op, const std::string& type) {
  return "kernel @k(%x: ptr<" + type + ">, %y: ptr<" + type + ">) {\n" +
         "  %pid: i32 = program_id {axis=0}\n  %size: i32 = const {value=256}\n"
         "  %start: i32 = mul %pid, %size\n  %st: tile<256xi32> = splat %start\n"
         "  %r: tile<256xi32> = arange {start=0, end=256}\n  %at: tile<256xi32> = add %st, %r\n"
         "  %xs: tile<256xptr<" +
         type + ">> = splat %x\n  %xp: tile<256xptr<" + type +
         ">> = ptr_add %xs, %at\n  %v: tile<256x" + type + "> = load %xp\n  %w: tile<256x" + type +
         "> = " + op + " %v\n  %ys: tile<256xptr<" + type + ">> = splat %y\n  %yp: tile<256xptr<" +
         type + ">> = ptr_add %ys, %at\n  store %yp, %w\n  return\n}\n";
}

std::vector<double> apply(const std::string& op, Dtype dtype, std::vector<double> x) {
  while (x.size() % 256 != 0) x.push_back(1);
  Arguments a{{Array::of(dtype, x), Array::zeros(dtype, x.size())},
              {},
              {static_cast<uint32_t>(x.size() / 256), 1, 1},
              {},
              {}};
  auto compiled = compile(parse_ir(kernel(op, std::string(dtype_name(dtype)))));
  EXPECT_TRUE(compiled.ok());
  std::vector<uint64_t> slots;
  EXPECT_TRUE((*compiled)->run(launch_of(a, slots)).ok());
  std::vector<double> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(a.arrays[1].value(i));
  return out;
}

using Function = std::function<long double(long double)>;
using Bound = std::function<double(double x)>;

// The distance of y from the exact value in units of the format's spacing there.
double ulps(long double exact, double y, Dtype dtype) {
  int fraction = dtype == Dtype::kF64 ? 52 : 23, smallest = dtype == Dtype::kF64 ? -1022 : -126;
  if (std::isnan(exact)) return std::isnan(y) ? 0 : INFINITY;
  if (std::isnan(y)) return INFINITY;
  long double largest = dtype == Dtype::kF64 ? 0x1.fffffffffffffp1023L : 0x1.fffffep127L;
  if (std::isinf(y)) {  // right if the exact value rounds to it, too
    long double half = std::ldexp(1.0L, (dtype == Dtype::kF64 ? 1023 : 127) - fraction - 1);
    return std::fabs(exact) >= largest + half && (exact > 0) == (y > 0) ? 0 : INFINITY;
  }
  if (std::isinf(exact) || std::fabs(exact) > largest * 1.0000001L) return INFINITY;
  int exponent = exact == 0 ? smallest : std::max(std::ilogb(exact), smallest);
  return static_cast<double>(std::fabs(exact - static_cast<long double>(y)) /
                             std::ldexp(1.0L, exponent - fraction));
}

void check(const std::string& op, Dtype dtype, const Function& exact, const std::vector<double>& x,
           const Bound& bound) {
  std::vector<double> y = apply(op, dtype, x);
  double worst = 0;
  int shown = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double apart = ulps(exact(static_cast<long double>(x[i])), y[i], dtype);
    worst = std::max(worst, apart / bound(x[i]));
    if (apart <= bound(x[i]) || ++shown > 5) continue;
    ADD_FAILURE() << op << "(" << x[i] << ") = " << y[i] << ", " << apart << " ulp away";
  }
  testing::Test::RecordProperty((op + "_" + std::string(dtype_name(dtype))).c_str(),
                                std::to_string(worst));
}

// Floats of all magnitudes, evenly in their bits, with special ones first.
std::vector<double> all_magnitudes(Dtype dtype, double low, double high) {
  std::vector<double> out;
  for (double v : {0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 1e-38, 3.4e38, -3.4e38})
    if (v >= low && v <= high) out.push_back(bits_to_float(float_to_bits(v, dtype), dtype));
  Random random(3);
  while (out.size() < 40000) {
    uint64_t bits = random.next();
    if (dtype == Dtype::kF32) bits &= 0xffffffff;
    double v = bits_to_float(bits, dtype);
    if (v >= low && v <= high) out.push_back(v);
    double u = random.uniform(std::max(low, -200.0), std::min(high, 200.0));
    out.push_back(dtype == Dtype::kF32 ? static_cast<double>(static_cast<float>(u)) : u);
  }
  return out;
}

Bound at_most(double bound) {
  return [bound](double) { return bound; };
}

constexpr double kAnything = 3.5e38;

TEST(Math, ExponentialsOfFloats) {
  check(
      "exp", Dtype::kF32, [](long double v) { return std::exp(v); },
      all_magnitudes(Dtype::kF32, -kAnything, kAnything),
      [](double x) { return std::min(2 + std::fabs(x), 4.0); });
  check(
      "exp2", Dtype::kF32, [](long double v) { return std::exp2(v); },
      all_magnitudes(Dtype::kF32, -kAnything, kAnything), at_most(4));
}

TEST(Math, LogarithmsOfFloats) {
  auto x = all_magnitudes(Dtype::kF32, 0, kAnything);
  for (int i = -2000; i < 2000; ++i)  // where the result is near 0
    x.push_back(static_cast<double>(1 + static_cast<float>(i) * 0x1p-13f));
  check(
      "log", Dtype::kF32, [](long double v) { return std::log(v); }, x, at_most(4));
  check(
      "log2", Dtype::kF32, [](long double v) { return std::log2(v); }, x, at_most(4));
}

TEST(Math, OtherFunctionsOfFloats) {
  auto x = all_magnitudes(Dtype::kF32, -kAnything, kAnything);
  check(
      "tanh", Dtype::kF32, [](long double v) { return std::tanh(v); }, x, at_most(4));
  check(
      "erf", Dtype::kF32, [](long double v) { return std::erf(v); }, x, at_most(4));
  auto positive = all_magnitudes(Dtype::kF32, 0, kAnything);
  check(
      "sqrt", Dtype::kF32, [](long double v) { return std::sqrt(v); }, positive, at_most(0.5));
  check(
      "rsqrt", Dtype::kF32, [](long double v) { return 1 / std::sqrt(v); }, positive, at_most(4));
}

TEST(Math, TrigonometryOfFloats) {
  std::vector<double> x = all_magnitudes(Dtype::kF32, -kAnything, kAnything);
  std::vector<double> sine = apply("sin", Dtype::kF32, x), cosine = apply("cos", Dtype::kF32, x);
  for (size_t i = 0; i < x.size(); ++i) {
    // libm is exact for huge arguments; so is the slow path.
    EXPECT_NEAR(sine[i], std::sin(x[i]), 0x1p-22) << x[i];
    EXPECT_NEAR(cosine[i], std::cos(x[i]), 0x1p-22) << x[i];
  }
}

TEST(Math, SpecialValuesOfFloats) {
  const double inf = INFINITY, nan = NAN;
  const std::vector<double> x = {0.0, -0.0, inf, -inf, nan, -1.0};
  const std::map<std::string, std::vector<double>> want = {
      {"exp", {1, 1, inf, 0, nan, std::exp(-1.0)}},
      {"exp2", {1, 1, inf, 0, nan, 0.5}},
      {"log", {-inf, -inf, inf, nan, nan, nan}},
      {"log2", {-inf, -inf, inf, nan, nan, nan}},
      {"sin", {0.0, -0.0, nan, nan, nan, std::sin(-1.0)}},
      {"cos", {1, 1, nan, nan, nan, std::cos(-1.0)}},
      {"tanh", {0.0, -0.0, 1, -1, nan, std::tanh(-1.0)}},
      {"erf", {0.0, -0.0, 1, -1, nan, std::erf(-1.0)}},
      {"sqrt", {0.0, -0.0, inf, nan, nan, nan}},
      {"rsqrt", {inf, -inf, 0, nan, nan, nan}},
  };
  for (const auto& [op, values] : want)
    for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
      std::vector<double> got = apply(op, dtype, x);
      for (size_t i = 0; i < x.size(); ++i) {
        SCOPED_TRACE(op + " of " + std::to_string(x[i]));
        EXPECT_EQ(std::isnan(got[i]), std::isnan(values[i]));
        if (std::isnan(values[i])) continue;
        EXPECT_EQ(std::signbit(got[i]), std::signbit(values[i]));
        if (std::isinf(values[i]) || values[i] == 0)
          EXPECT_EQ(got[i], values[i]);
        else
          EXPECT_NEAR(got[i], values[i], 1e-6);
      }
    }
}

TEST(Math, FunctionsOfDoubles) {
  auto x = all_magnitudes(Dtype::kF64, -1e308, 1e308);
  auto positive = all_magnitudes(Dtype::kF64, 0, 1e308);
  check(
      "exp", Dtype::kF64, [](long double v) { return std::exp(v); }, x, at_most(2));
  check(
      "exp2", Dtype::kF64, [](long double v) { return std::exp2(v); }, x, at_most(2));
  check(
      "log", Dtype::kF64, [](long double v) { return std::log(v); }, positive, at_most(2));
  check(
      "log2", Dtype::kF64, [](long double v) { return std::log2(v); }, positive, at_most(2));
  check(
      "sin", Dtype::kF64, [](long double v) { return std::sin(v); }, x, at_most(2));
  check(
      "cos", Dtype::kF64, [](long double v) { return std::cos(v); }, x, at_most(2));
  check(
      "tanh", Dtype::kF64, [](long double v) { return std::tanh(v); }, x, at_most(2));
  check(
      "erf", Dtype::kF64, [](long double v) { return std::erf(v); }, x, at_most(2));
  check(
      "sqrt", Dtype::kF64, [](long double v) { return std::sqrt(v); }, positive, at_most(0.5001));
  check(
      "rsqrt", Dtype::kF64, [](long double v) { return 1 / std::sqrt(v); }, positive, at_most(2));
}

}  // namespace
}  // namespace tilewright::cpu
