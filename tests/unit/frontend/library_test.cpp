// Functions of library.py against the C library or a plain definition: libdevice, softmax, and the
// helpers that TorchInductor's kernels import.
#include <cmath>

#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

std::vector<float> run_on(const std::string& expression, std::vector<float> x) {
  while (x.size() % 16) x.push_back(0.5f);
  std::vector<float> o(x.size());
  std::string text =
      "@triton.jit\ndef kernel(x, o):\n    i = tl.program_id(0) * 16 + tl.arange(0, 16)\n"
      "    v = tl.load(x + i)\n    tl.store(o + i, " +
      expression + ")\n";
  run_lowered({.text = text,
               .signature = {"x=*f32", "o=*f32"},
               .arguments = {address(x.data()), address(o.data())},
               .grid = {static_cast<uint32_t>(x.size() / 16), 1, 1}});
  return o;
}

void expect_function(const std::string& expression, double (*reference)(double),
                     const std::vector<float>& x, double relative = 2e-7) {
  std::vector<float> o = run_on(expression, x);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = reference(x[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(o[i])) << expression << " of " << x[i];
    } else if (std::isinf(expected) || std::fabs(expected) > 3.5e38) {
      EXPECT_TRUE(std::isinf(o[i]) && std::signbit(o[i]) == std::signbit(expected))
          << expression << " of " << x[i];
    } else {
      EXPECT_NEAR(o[i], expected, relative * std::fabs(expected) + 1e-44)
          << expression << " of " << x[i];
    }
  }
}

const float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Library, Libdevice) {
  std::vector<float> x = {0,       1e-20f, -1e-20f, 1e-7f, -1e-7f, 0.3f, -0.3f, 1,
                          -0.999f, 2.5f,   20,      80,    200,    kInf, kNan,  3.5f};
  expect_function("libdevice.log1p(v)", std::log1p, x);
  expect_function("libdevice.expm1(v)", std::expm1, x);
  expect_function("libdevice.sinh(v)", std::sinh, x);
  expect_function("libdevice.cosh(v)", std::cosh, x);
  expect_function("libdevice.log10(v)", std::log10, x);
  expect_function(
      "libdevice.exp10(v)", [](double v) { return std::pow(10.0, v); }, x);
  std::vector<float> angles = {0, 1e-20f, 0.5f, -1.25f, 3, 100};
  expect_function("libdevice.tan(v)", std::tan, angles);
  expect_function(
      "libdevice.rcp_rn(v)", [](double v) { return 1 / v; }, x);
}

TEST(Library, InverseFunctions) {
  std::vector<float> x = {0, 1e-20f, -1e-5f, 0.1f, -0.3f, 0.5f, 0.70710678f, 0.99999994f,
                          1, -1,     1.5f,   -40,  1e10f, kInf, -kInf,       kNan};
  expect_function("libdevice.atan(v)", std::atan, x);
  expect_function("libdevice.asinh(v)", std::asinh, x);
  expect_function("libdevice.asin(v)", std::asin, x);
  expect_function("libdevice.acos(v)", std::acos, x);
  expect_function("libdevice.acosh(v)", std::acosh, x);
  expect_function("libdevice.atanh(v)", std::atanh, x);
  expect_function("libdevice.cbrt(v)", std::cbrt, x);
  for (float u : {0.0f, -0.0f, 1.0f, -2.0f, kInf, -kInf})
    for (float v : {0.0f, -0.0f, 3.0f, -0.5f, kInf, -kInf}) {
      std::vector<float> in = {v, u, 0, 0}, o(1);
      run_lowered({.text = "@triton.jit\ndef kernel(x, o):\n"
                           "    tl.store(o, libdevice.atan2(tl.load(x), tl.load(x + 1)))\n",
                   .signature = {"x=*f32", "o=*f32"},
                   .arguments = {address(in.data()), address(o.data())}});
      double expected = std::atan2(static_cast<double>(v), static_cast<double>(u));
      EXPECT_NEAR(o[0], expected, 2e-7 * std::fabs(expected)) << v << " " << u;
    }
}

TEST(Library, Bits) {
  const char* text = R"(
@triton.jit
def kernel(x, y, o):
    i = tl.arange(0, 8)
    v = tl.load(x + i)
    w = tl.load(y + i)
    tl.store(o + i, libdevice.popc(v))
    tl.store(o + 8 + i, libdevice.clz(v))
    tl.store(o + 16 + i, libdevice.ffs(v))
    tl.store(o + 24 + i, libdevice.popc(w))
    tl.store(o + 32 + i, libdevice.clz(w))
    tl.store(o + 40 + i, libdevice.ffs(w))
)";
  std::vector<int32_t> x = {0, 1, -1, 0x70, -2147483647 - 1, 12345678, -5, 1 << 30}, o(48);
  std::vector<int64_t> y;
  for (int32_t v : x) y.push_back(int64_t{v} * 65537);
  run_lowered({.text = text,
               .signature = {"x=*i32", "y=*i64", "o=*i32"},
               .arguments = {address(x.data()), address(y.data()), address(o.data())}});
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(o[i], __builtin_popcount(static_cast<uint32_t>(x[i])));
    EXPECT_EQ(o[8 + i], x[i] ? __builtin_clz(static_cast<uint32_t>(x[i])) : 32);
    EXPECT_EQ(o[16 + i], __builtin_ffs(x[i]));
    EXPECT_EQ(o[24 + i], __builtin_popcountll(static_cast<uint64_t>(y[i])));
    EXPECT_EQ(o[32 + i], y[i] ? __builtin_clzll(static_cast<uint64_t>(y[i])) : 64);
    EXPECT_EQ(o[40 + i], __builtin_ffsll(y[i]));
  }
}

TEST(Library, Rounding) {
  std::vector<float> x = {0.5f, -0.5f,   1.5f, 2.5f, -2.5f, 0.49999997f, -7.3f,
                          7.7f, 8388609, 0,    kInf, -kInf, kNan};
  expect_function("libdevice.round(v)", std::round, x, 0);
  expect_function("libdevice.rint(v)", std::rint, x, 0);
  expect_function("libdevice.nearbyint(v)", std::nearbyint, x, 0);
  expect_function("libdevice.trunc(v)", std::trunc, x, 0);
  EXPECT_EQ(run_on("tl.where(libdevice.isnan(v), 2.0, libdevice.isinf(v).to(tl.float32))",
                   {kNan, kInf, -kInf, 1})[0],
            2);
  EXPECT_EQ(run_on("libdevice.isinf(v)", {kNan, kInf, -kInf, 1}),
            run_on("tl.where(v * 0 == v * 0, 0, libdevice.isnan(v) == 0)", {kNan, kInf, -kInf, 1}));
}

TEST(Library, Power) {
  std::vector<float> x = {2, -2, -2, 0, 0, -1, 1, 4, 0.5f, kInf, 10, -3, -3, 2, 2, 1e-20f};
  std::vector<float> y = {10, 3, 2, 0, 2, kInf, kNan, 0.5f, -3, 2, 30, 0.5f, 5, -kInf, kInf, 0.5f};
  std::vector<float> o(16);
  run_lowered({.text = "@triton.jit\ndef kernel(x, y, o):\n    i = tl.arange(0, 16)\n"
                       "    tl.store(o + i, libdevice.pow(tl.load(x + i), tl.load(y + i)))\n",
               .signature = {"x=*f32", "y=*f32", "o=*f32"},
               .arguments = {address(x.data()), address(y.data()), address(o.data())}});
  for (size_t i = 0; i < 16; ++i) {
    double expected = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(o[i])) << i;
    else if (std::isinf(expected))
      EXPECT_EQ(o[i], expected) << i;
    else
      EXPECT_NEAR(o[i], expected, 1e-7 * std::fabs(expected)) << x[i] << " ** " << y[i];
  }
}

TEST(Library, SoftmaxAndSigmoid) {
  expect_function(
      "tl.sigmoid(v)", [](double v) { return 1 / (1 + std::exp(-v)); }, {0, 1, -1, 5, -5, 20},
      1e-6);
  std::vector<float> x = {1, 2, 3, 4, -1, 0, 1, 2, 5, 5, 5, 5, 0, 1, 0, 1};
  std::vector<float> o = run_on("tl.softmax(v)", x);
  double sum = 0;
  for (float v : x) sum += std::exp(v - 5.0);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(o[i], std::exp(x[i] - 5.0) / sum, 1e-6);
}

TEST(Library, InductorHelpers) {
  const char* text = R"(
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math

@triton.jit
def kernel(x, i, o, XBLOCK: tl.constexpr):
    n = tl.load(i + tl.arange(0, XBLOCK))
    tl.store(o + tl.arange(0, XBLOCK), triton_helpers.div_floor_integer(n, 4))
    tl.store(o + 4 + tl.arange(0, XBLOCK), triton_helpers.remainder_integer(n, 4))
    v = tl.load(x + tl.arange(0, XBLOCK))
    tl.store(o + 8 + tl.arange(0, XBLOCK), triton_helpers.maximum(v, tl_math.abs(v)))
    tl.store(o + 12, triton_helpers.max2(v, 0))
    mean, m2, weight = triton_helpers.welford(n.to(tl.float32), tl.zeros_like(v), tl.full(v.shape, 1, tl.float32), 0)
    tl.store(o + 13, mean)
    tl.store(o + 14, m2 / weight)
    tl.store(o + 15, libdevice.rsqrt(4.0))
)";
  std::vector<int32_t> n = {-7, 7, -8, 3};
  std::vector<float> x = {kNan, -2, 3, 1}, o(16);
  run_lowered({.text = text,
               .signature = {"x=*f32", "i=*i32", "o=*f32"},
               .constants = {{"XBLOCK", Constant::integer_of(4)}},
               .arguments = {address(x.data()), address(n.data()), address(o.data())}});
  EXPECT_EQ(std::vector<float>(o.begin(), o.begin() + 8),
            (std::vector<float>{-2, 1, -2, 0, 1, 3, 0, 3}));
  EXPECT_TRUE(std::isnan(o[8]));
  EXPECT_EQ(std::vector<float>(o.begin() + 9, o.begin() + 12), (std::vector<float>{2, 3, 1}));
  EXPECT_TRUE(std::isnan(o[12]));
  EXPECT_EQ(o[13], -1.25f);
  EXPECT_EQ(o[14], 41.1875f);
  EXPECT_EQ(o[15], 0.5f);
}

}  // namespace
}  // namespace tilewright::frontend
