// Scans, sorting, gather and histogram, on the interpreter.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "dsl/base/numeric.h"
#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

TEST(Scan, SumsAlongEachAxisBothWays) {
  const char* text = R"(
@triton.jit
def kernel(x, o):
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    v = tl.load(x + at)
    tl.store(o + at, tl.cumsum(v, 0))
    tl.store(o + 32 + at, tl.cumsum(v, axis=1))
    tl.store(o + 64 + at, tl.cumsum(v, 1, reverse=True))
    tl.store(o + 96 + at, tl.cumprod(v % 3 + 1, axis=-1))
)";
  std::vector<int32_t> x(32), o(128);
  for (int i = 0; i < 32; ++i) x[i] = (i * 7) % 11;
  run_lowered({.text = text,
               .signature = {"x=*i32", "o=*i32"},
               .arguments = {address(x.data()), address(o.data())}});
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 8; ++c) {
      int down = 0, right = 0, left = 0, product = 1;
      for (int k = 0; k <= r; ++k) down += x[k * 8 + c];
      for (int k = 0; k <= c; ++k) right += x[r * 8 + k], product *= x[r * 8 + k] % 3 + 1;
      for (int k = c; k < 8; ++k) left += x[r * 8 + k];
      int i = r * 8 + c;
      EXPECT_EQ(o[i], down);
      EXPECT_EQ(o[32 + i], right);
      EXPECT_EQ(o[64 + i], left);
      EXPECT_EQ(o[96 + i], product);
    }
}

TEST(Scan, KeepsTheOrderOfAFunctionThatDoesNotCommute) {
  // x -> a*x + b composed from left to right.
  const char* text = R"(
@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2

@triton.jit
def kernel(a, b, o):
    i = tl.arange(0, 16)
    p, q = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, compose)
    r, s = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, compose, reverse=True)
    tl.store(o + i, p)
    tl.store(o + 16 + i, q)
    tl.store(o + 32 + i, r)
    tl.store(o + 48 + i, s)
)";
  std::vector<int32_t> a(16), b(16), o(64);
  for (int i = 0; i < 16; ++i) a[i] = i % 3 - 1 + (i % 5 == 0), b[i] = i * 5 % 7;
  run_lowered({.text = text,
               .signature = {"a=*i32", "b=*i32", "o=*i32"},
               .arguments = {address(a.data()), address(b.data()), address(o.data())}});
  int p = a[0], q = b[0], r = a[15], s = b[15];
  for (int i = 0; i < 16; ++i) {
    if (i > 0) q = q * a[i] + b[i], p *= a[i];
    EXPECT_EQ(o[i], p);
    EXPECT_EQ(o[16 + i], q);
    int k = 15 - i;
    if (i > 0) s = s * a[k] + b[k], r *= a[k];
    EXPECT_EQ(o[32 + k], r);
    EXPECT_EQ(o[48 + k], s);
  }
}

TEST(Sort, NumbersAndNan) {
  const char* text = R"(
@triton.jit
def kernel(x, o):
    at = tl.arange(0, 2)[:, None] * 8 + tl.arange(0, 8)[None, :]
    v = tl.load(x + at)
    tl.store(o + at, tl.sort(v))
    tl.store(o + 16 + at, tl.sort(v, dim=1, descending=True))
    tl.store(o + 32 + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :], tl.topk(v, 4))
)";
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {3, -1, 7, 2, 7, -5, 0, 4, 1, nan, -2, 9, -9, 5, 6, 8}, o(40);
  run_lowered({.text = text,
               .signature = {"x=*f32", "o=*f32"},
               .arguments = {address(x.data()), address(o.data())}});
  std::vector<float> first(o.begin(), o.begin() + 8), down(o.begin() + 16, o.begin() + 24);
  EXPECT_EQ(first, (std::vector<float>{-5, -1, 0, 2, 3, 4, 7, 7}));
  EXPECT_EQ(down, (std::vector<float>{7, 7, 4, 3, 2, 0, -1, -5}));
  EXPECT_EQ(o[8], -9);
  EXPECT_EQ(o[14], 9);
  EXPECT_TRUE(std::isnan(o[15]));
  EXPECT_EQ(std::vector<float>(o.begin() + 32, o.begin() + 36), (std::vector<float>{7, 7, 4, 3}));
}

TEST(Sort, EveryLengthOfRandomIntegers) {
  const char* text = R"(
@triton.jit
def kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.sort(tl.load(x + i)))
)";
  uint32_t state = 1;
  for (int n = 1; n <= 64; n *= 2) {
    std::vector<int32_t> x(n), o(n);
    for (int32_t& v : x) v = static_cast<int32_t>((state = state * 1664525 + 1013904223) >> 8) % 50;
    run_lowered({.text = text,
                 .signature = {"x=*i32", "o=*i32"},
                 .constants = {{"N", Constant::integer_of(n)}},
                 .arguments = {address(x.data()), address(o.data())}});
    std::sort(x.begin(), x.end());
    EXPECT_EQ(o, x) << n;
  }
}

// Numbers of every type by their bits, both ways, and the first k of them.
TEST(Sort, KeysOfEveryType) {
  const char* text = R"(
@triton.jit
def kernel(x, up, down, top):
    at = tl.arange(0, 2)[:, None] * 32 + tl.arange(0, 32)[None, :]
    v = tl.load(x + at)
    tl.store(up + at, tl.sort(v))
    tl.store(down + at, tl.sort(v, descending=True))
    for_top = tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(top + for_top, tl.topk(v, 4))
)";
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kU8, Dtype::kI16, Dtype::kU16, Dtype::kI32,
                      Dtype::kU32, Dtype::kI64, Dtype::kU64, Dtype::kF8E4M3, Dtype::kF8E5M2,
                      Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64}) {
    SCOPED_TRACE(dtype_name(dtype));
    const auto bytes = static_cast<size_t>(dtype_bytes(dtype));
    std::vector<uint8_t> x(64 * bytes), up(x), down(x), top(8 * bytes);
    uint32_t state = 7;
    for (uint8_t& byte : x) {
      byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
      if (dtype == Dtype::kI1) byte &= 1;
    }
    const std::string type = "*" + std::string(dtype_name(dtype));
    run_lowered({.text = text,
                 .signature = {"x=" + type, "up=" + type, "down=" + type, "top=" + type},
                 .arguments = {address(x.data()), address(up.data()), address(down.data()),
                               address(top.data())}});
    auto value = [&](const std::vector<uint8_t>& from, size_t i) {
      uint64_t bits = 0;
      std::memcpy(&bits, &from[i * bytes], bytes);
      return std::pair(is_float(dtype) && std::isnan(bits_to_float(bits, dtype)),
                       is_float(dtype) ? bits_to_float(bits, dtype)
                       : is_signed(dtype)
                           ? static_cast<double>(bits_to_int(bits, dtype) >> (bytes == 8 ? 11 : 0))
                           : static_cast<double>(bits >> (bytes == 8 ? 11 : 0)));
    };
    auto after = [](const std::pair<bool, double>& a, const std::pair<bool, double>& b) {
      return a.first != b.first ? b.first : !a.first && a.second < b.second;
    };
    for (size_t row = 0; row < 2; ++row) {
      std::vector<std::pair<bool, double>> wanted;
      for (size_t i = 0; i < 32; ++i) wanted.push_back(value(x, 32 * row + i));
      std::sort(wanted.begin(), wanted.end(), after);
      auto same = [](const std::pair<bool, double>& a, const std::pair<bool, double>& b) {
        return a.first == b.first && (a.first || a.second == b.second);
      };
      for (size_t i = 0; i < 32; ++i) {
        EXPECT_TRUE(same(value(up, 32 * row + i), wanted[i])) << i;
        EXPECT_TRUE(same(value(down, 32 * row + i), wanted[31 - i])) << i;
        if (i < 4) {
          EXPECT_TRUE(same(value(top, 4 * row + i), wanted[31 - i])) << i;
        }
      }
    }
  }
}

TEST(Gather, AlongEachAxis) {
  const char* text = R"(
@triton.jit
def kernel(x, i, o):
    r = tl.arange(0, 4)[:, None]
    c = tl.arange(0, 8)[None, :]
    v = tl.load(x + r * 8 + c)
    rows = tl.load(i + tl.arange(0, 2)[:, None] * 8 + c)
    tl.store(o + tl.arange(0, 2)[:, None] * 8 + c, tl.gather(v, rows % 4, 0))
    cols = tl.load(i + r * 4 + tl.arange(0, 4)[None, :])
    tl.store(o + 16 + r * 4 + tl.arange(0, 4)[None, :], tl.gather(v, cols, axis=1))
)";
  std::vector<float> x(32), o(32);
  std::iota(x.begin(), x.end(), 0.5f);
  x[9] = -0.0f;
  std::vector<int32_t> index = {3, 0, 7, 1, 6, 2, 5, 4, 1, 1, 0, 2, 3, 7, 6, 5};
  run_lowered({.text = text,
               .signature = {"x=*f32", "i=*i32", "o=*f32"},
               .arguments = {address(x.data()), address(index.data()), address(o.data())}});
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 8; ++c) EXPECT_EQ(o[r * 8 + c], x[(index[r * 8 + c] % 4) * 8 + c]);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) EXPECT_EQ(o[16 + r * 4 + c], x[r * 8 + index[r * 4 + c]]);
  EXPECT_TRUE(std::signbit(o[1 * 8 + 1]));
}

TEST(Histogram, CountsWithAMask) {
  const char* text = R"(
@triton.jit
def kernel(x, o):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    tl.store(o + tl.arange(0, 4), tl.histogram(v, 4))
    tl.store(o + 4 + tl.arange(0, 4), tl.histogram(v, 4, mask=i < 8))
)";
  std::vector<int32_t> x = {0, 1, 1, 3, 3, 3, 7, -1, 2, 2, 2, 2, 0, 9, 1, 3}, o(8);
  run_lowered({.text = text,
               .signature = {"x=*i32", "o=*i32"},
               .arguments = {address(x.data()), address(o.data())}});
  EXPECT_EQ(o, (std::vector<int32_t>{2, 3, 4, 4, 1, 2, 0, 3}));
}

}  // namespace
}  // namespace tilewright::frontend
