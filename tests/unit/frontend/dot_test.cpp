// Products of packed, scaled and sparse operands (library.py, dot_int4) against plain sums.
#include <cmath>
#include <random>

#include "dsl/base/numeric.h"
#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

constexpr int kM = 16, kN = 16;

std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> out(count);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  return out;
}

TEST(Dot, Int4) {
  constexpr int k = 64, half = k / 2;
  const std::string text = R"(
from triton.language.extra import tilewright
@triton.jit
def kernel(a, b, o):
    i = tl.arange(0, 16)
    h = tl.arange(0, 32)
    x = tl.load(a + i[:, None] * 32 + h[None, :])
    y = tl.load(b + h[:, None] * 16 + i[None, :])
    acc = tl.full((16, 16), 7, tl.int32)
    tl.store(o + i[:, None] * 16 + i[None, :], tilewright.dot_int4(x, y, acc))
)";
  std::vector<uint8_t> a = random_bytes(kM * half, 1), b = random_bytes(half * kN, 2);
  auto nibble = [](uint8_t byte, int which, bool is_signed) {
    int value = byte >> 4 * which & 15;
    return is_signed && value > 7 ? value - 16 : value;
  };
  for (bool a_signed : {true, false}) {
    std::vector<int32_t> o(kM * kN);
    run_lowered({.text = text,
                 .signature = {a_signed ? "a=*i8" : "a=*u8", "b=*i8", "o=*i32"},
                 .arguments = {address(a.data()), address(b.data()), address(o.data())}});
    for (int m = 0; m < kM; ++m)
      for (int n = 0; n < kN; ++n) {
        int sum = 7;
        for (int i = 0; i < k; ++i)
          sum +=
              nibble(a[m * half + i / 2], i % 2, a_signed) * nibble(b[i / 2 * kN + n], i % 2, true);
        EXPECT_EQ(o[m * kN + n], sum) << m << ", " << n;
      }
  }
}

// Value of an element of a microscaling operand.
double element(const std::vector<uint8_t>& bytes, size_t i, const std::string& format) {
  if (format == "e2m1") {
    static const double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    int code = bytes[i / 2] >> i % 2 * 4 & 15;
    return (code & 8 ? -1 : 1) * kValues[code & 7];
  }
  return bits_to_float(bytes[i], format == "e4m3" ? Dtype::kF8E4M3 : Dtype::kF8E5M2);
}

struct Scaled {
  std::string lhs, rhs;
  bool lhs_scaled = true, rhs_scaled = true;
};

void check_scaled(const Scaled& s) {
  SCOPED_TRACE(s.lhs + " " + s.rhs);
  constexpr int k = 64, groups = k / 32;
  int a_width = s.lhs == "e2m1" ? k / 2 : k, b_width = s.rhs == "e2m1" ? k / 2 : k;
  std::string wa = std::to_string(a_width), wb = std::to_string(b_width);
  // b is stored by columns, so that nibbles of K are neighbours in it too.
  const std::string text = R"(
@triton.jit
def kernel(a, sa, b, sb, o):
    i = tl.arange(0, 16)
    g = tl.arange(0, 2)
    x = tl.load(a + i[:, None] * )" +
                           wa + " + tl.arange(0, " + wa + R"()[None, :])
    y = tl.load(b + i[None, :] * )" +
                           wb + " + tl.arange(0, " + wb + R"()[:, None])
    p = tl.load(sa + i[:, None] * 2 + g[None, :])
    q = tl.load(sb + i[:, None] * 2 + g[None, :])
    z = tl.dot_scaled(x, )" +
                           (s.lhs_scaled ? "p" : "None") + ", \"" + s.lhs + "\", y, " +
                           (s.rhs_scaled ? "q" : "None") + ", \"" + s.rhs + R"(")
    tl.store(o + i[:, None] * 16 + i[None, :], z)
)";
  std::vector<uint8_t> a = random_bytes(kM * a_width, 3), b = random_bytes(kN * b_width, 4);
  std::vector<uint8_t> sa = random_bytes(kM * groups, 5), sb = random_bytes(kN * groups, 6);
  for (auto* scales : {&sa, &sb})
    for (uint8_t& scale : *scales) scale = static_cast<uint8_t>(120 + scale % 16);
  for (auto* bytes : {&a, &b})
    for (uint8_t& byte : *bytes) byte &= 0xb7;  // no NaN, no infinity
  std::vector<float> o(kM * kN);
  run_lowered({.text = text,
               .signature = {"a=*u8", "sa=*u8", "b=*u8", "sb=*u8", "o=*f32"},
               .arguments = {address(a.data()), address(sa.data()), address(b.data()),
                             address(sb.data()), address(o.data())}});
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      double sum = 0, size = 0;
      for (int i = 0; i < k; ++i) {
        int scale = (s.lhs_scaled ? sa[m * groups + i / 32] - 127 : 0) +
                    (s.rhs_scaled ? sb[n * groups + i / 32] - 127 : 0);
        double product =
            std::ldexp(element(a, m * k + i, s.lhs) * element(b, n * k + i, s.rhs), scale);
        sum += product;
        size += std::fabs(product);
      }
      EXPECT_NEAR(o[m * kN + n], sum, 64 * 0x1p-24 * size) << m << ", " << n;
    }
}

TEST(Dot, Scaled) {
  check_scaled({"e2m1", "e2m1"});
  check_scaled({"e4m3", "e2m1"});
  check_scaled({"e5m2", "e4m3"});
  check_scaled({"e2m1", "e5m2", true, false});
  check_scaled({"e4m3", "e4m3", false, true});
}

TEST(Dot, ScaledHalvesAndOtherPacking) {
  const std::string text = R"(
@triton.jit
def kernel(h, s, c, o, e):
    i = tl.arange(0, 16)
    k = tl.arange(0, 32)
    x = tl.load(h + i[:, None] * 32 + k[None, :])
    scale = tl.load(s + i)[:, None]
    y = tl.trans(x)
    at = i[:, None] * 16 + i[None, :]
    tl.store(o + at, tl.dot_scaled(x, scale, "fp16", y, scale, "fp16", out_dtype=tl.float16))
    rows = tl.load(c + tl.arange(0, 8)[:, None] * 32 + k[None, :])
    both = tl.dot_scaled(rows, scale, "e2m1", y.to(tl.bfloat16), None, "bf16", lhs_k_pack=False)
    tl.store(e + at, both)
)";
  std::vector<uint16_t> h(16 * 32), o(256);
  for (size_t i = 0; i < h.size(); ++i)
    h[i] = static_cast<uint16_t>(float_to_bits(static_cast<double>(i * 7 % 17) - 8, Dtype::kF16));
  std::vector<uint8_t> s(16, 128), c = random_bytes(8 * 32, 9);
  std::vector<float> e(256);
  run_lowered({.text = text,
               .signature = {"h=*f16", "s=*u8", "c=*u8", "o=*f16", "e=*f32"},
               .arguments = {address(h.data()), address(s.data()), address(c.data()),
                             address(o.data()), address(e.data())}});
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      double halves = 0, mixed = 0;
      for (int i = 0; i < 32; ++i) {
        double x = bits_to_float(h[m * 32 + i], Dtype::kF16),
               y = bits_to_float(h[n * 32 + i], Dtype::kF16);
        halves += 4 * x * y;  // both scales are 2
        mixed += 2 * element(c, (m / 2 * 32 + i) * 2 + m % 2, "e2m1") * y;
      }
      EXPECT_EQ(bits_to_float(o[m * 16 + n], Dtype::kF16),
                bits_to_float(float_to_bits(halves, Dtype::kF16), Dtype::kF16));
      EXPECT_EQ(e[m * 16 + n], mixed);
    }
}

template <class Metadata>
void check_sparse(const std::string& metadata, const std::string& value) {
  constexpr int k = 64, kept = k / 2;
  const int per_word = (value == "f32" ? 2 : 4) * static_cast<int>(sizeof(Metadata)),
            words = kept / per_word;
  const std::string text = R"(
from triton.language.extra import tilewright
@triton.jit
def kernel(a, e, b, o):
    i = tl.arange(0, 16)
    x = tl.load(a + i[:, None] * 32 + tl.arange(0, 32)[None, :])
    w = tl.arange(0, )" + std::to_string(words) +
                           R"()
    meta = tl.load(e + i[:, None] * )" +
                           std::to_string(words) + R"( + w[None, :])
    y = tl.load(b + tl.arange(0, 64)[:, None] * 16 + i[None, :])
    tl.store(o + i[:, None] * 16 + i[None, :], tilewright.dot_sparse(x, meta, y))
)";
  Dtype dtype = *parse_dtype(value);
  auto bytes = static_cast<size_t>(dtype_bytes(dtype));
  std::mt19937 random(8);
  std::vector<double> dense(kM * k, 0.0), b_values(k * kN);
  std::vector<uint8_t> a(kM * kept * bytes), b(k * kN * bytes);
  std::vector<Metadata> e(kM * words, 0);
  auto put = [&](std::vector<uint8_t>& to, size_t i, double x) {
    uint64_t bits =
        is_int(dtype) ? int_to_bits(static_cast<int64_t>(x), dtype) : float_to_bits(x, dtype);
    std::memcpy(&to[i * bytes], &bits, bytes);
  };
  // Of float32 one of two is kept, named by four bits.
  for (int m = 0; m < kM && dtype == Dtype::kF32; ++m)
    for (int at = 0; at < kept; ++at) {
      int place = static_cast<int>(random() % 2);
      double x = static_cast<int>(random() % 9) - 4;
      dense[m * k + 2 * at + place] = x;
      put(a, m * kept + at, x);
      e[m * words + at / per_word] = static_cast<Metadata>(
          e[m * words + at / per_word] | (place ? 0b1110 : 0b0100) << 4 * (at % per_word));
    }
  for (int m = 0; m < kM && dtype != Dtype::kF32; ++m)
    for (int group = 0; group < k / 4; ++group) {
      int first = static_cast<int>(random() % 3),
          second = first + 1 + static_cast<int>(random() % static_cast<unsigned>(3 - first));
      for (int which : {0, 1}) {
        int place = which ? second : first, at = 2 * group + which;
        double x = static_cast<int>(random() % 9) - 4;
        dense[m * k + 4 * group + place] = x;
        put(a, m * kept + at, x);
        e[m * words + at / per_word] = static_cast<Metadata>(
            e[m * words + at / per_word] | static_cast<Metadata>(place) << 2 * (at % per_word));
      }
    }
  for (size_t i = 0; i < b_values.size(); ++i)
    put(b, i, b_values[i] = static_cast<int>(random() % 9) - 4);
  std::vector<float> real(kM * kN);
  std::vector<int32_t> whole(kM * kN);
  void* out = is_int(dtype) ? static_cast<void*>(whole.data()) : real.data();
  std::string type = "a=*" + value, b_type = "b=*" + value;
  run_lowered(
      {.text = text,
       .signature = {type.c_str(), ("e=*" + metadata).c_str(), b_type.c_str(),
                     is_int(dtype) ? "o=*i32" : "o=*f32"},
       .arguments = {address(a.data()), address(e.data()), address(b.data()), address(out)}});
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += dense[m * k + i] * b_values[i * kN + n];
      EXPECT_EQ(is_int(dtype) ? whole[m * kN + n] : real[m * kN + n], sum) << value;
    }
}

TEST(Dot, Sparse) {
  check_sparse<int16_t>("i16", "f16");
  check_sparse<uint16_t>("u16", "bf16");
  check_sparse<int32_t>("i32", "i8");
  check_sparse<uint8_t>("u8", "f8e4m3");
  check_sparse<int16_t>("i16", "f32");
}

}  // namespace
}  // namespace tilewright::frontend
