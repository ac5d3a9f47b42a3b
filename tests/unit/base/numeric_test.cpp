// Number formats against known bit patterns, and exhaustively against definitions by other means.
#include "dsl/base/numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Pattern {
  double value;
  uint64_t bits;
};

TEST(Numeric, E4M3Patterns) {
  constexpr Dtype kType = Dtype::kF8E4M3;
  const Pattern exact[] = {{0.0, 0x00},    {-0.0, 0x80},   {1.0, 0x38},    {-1.0, 0xb8},
                           {448.0, 0x7e},  {-448.0, 0xfe}, {0x1p-6, 0x08}, {0x1p-9, 0x01},
                           {0x7p-9, 0x07}, {1.125, 0x39},  {240.0, 0x77},  {0.5, 0x30}};
  for (auto [value, bits] : exact) {
    EXPECT_EQ(float_to_bits(value, kType), bits) << value;
    EXPECT_EQ(std::bit_cast<uint64_t>(bits_to_float(bits, kType)), std::bit_cast<uint64_t>(value));
  }
  EXPECT_EQ(float_to_bits(464.0, kType), 0x7eu);  // half way to where 480 would be
  EXPECT_EQ(float_to_bits(1e10, kType), 0x7eu);   // saturates
  EXPECT_EQ(float_to_bits(-kInf, kType), 0xfeu);  // infinities too
  EXPECT_EQ(float_to_bits(kNan, kType), 0x7fu);
  EXPECT_TRUE(std::isnan(bits_to_float(0x7f, kType)) && std::isnan(bits_to_float(0xff, kType)));
  EXPECT_EQ(float_to_bits(1.0625, kType), 0x38u);   // half way, to even
  EXPECT_EQ(float_to_bits(1.1875, kType), 0x3au);   // half way, to even
  EXPECT_EQ(float_to_bits(0x1p-10, kType), 0x00u);  // half the least subnormal
  EXPECT_EQ(float_to_bits(std::nextafter(0x1p-10, 1.0), kType), 0x01u);
  EXPECT_EQ(float_to_bits(0x3p-10, kType), 0x02u);   // half way between subnormals
  EXPECT_EQ(float_to_bits(0x7.8p-9, kType), 0x08u);  // rounds up into the normals
}

TEST(Numeric, E5M2Patterns) {
  constexpr Dtype kType = Dtype::kF8E5M2;
  const Pattern exact[] = {{1.0, 0x3c},     {57344.0, 0x7b}, {0x1p-14, 0x04},
                           {0x1p-16, 0x01}, {-1.75, 0xbf},   {2.5, 0x41}};
  for (auto [value, bits] : exact) {
    EXPECT_EQ(float_to_bits(value, kType), bits) << value;
    EXPECT_EQ(bits_to_float(bits, kType), value);
  }
  EXPECT_EQ(float_to_bits(61440.0, kType), 0x7bu);  // would round to infinity
  EXPECT_EQ(float_to_bits(kInf, kType), 0x7bu);
  EXPECT_EQ(bits_to_float(0x7c, kType), kInf);  // infinity exists in memory
  EXPECT_TRUE(std::isnan(bits_to_float(0x7d, kType)));
  EXPECT_TRUE(std::isnan(bits_to_float(float_to_bits(kNan, kType), kType)));
  EXPECT_EQ(float_to_bits(1.125, kType), 0x3cu);
  EXPECT_EQ(float_to_bits(1.375, kType), 0x3eu);
}

TEST(Numeric, SixteenBitPatterns) {
  EXPECT_EQ(float_to_bits(65504.0, Dtype::kF16), 0x7bffu);
  EXPECT_EQ(float_to_bits(65519.9, Dtype::kF16), 0x7bffu);
  EXPECT_EQ(float_to_bits(65520.0, Dtype::kF16), 0x7c00u);  // half way goes to infinity
  EXPECT_EQ(float_to_bits(0x1p-24, Dtype::kF16), 0x0001u);
  EXPECT_EQ(float_to_bits(0x1p-25, Dtype::kF16), 0x0000u);
  EXPECT_EQ(float_to_bits(-0x1p-14, Dtype::kF16), 0x8400u);
  EXPECT_EQ(float_to_bits(kNan, Dtype::kF16), 0x7e00u);
  EXPECT_EQ(float_to_bits(1.0, Dtype::kBF16), 0x3f80u);
  EXPECT_EQ(float_to_bits(1.00390625, Dtype::kBF16), 0x3f80u);  // 1 + 2^-8, to even
  EXPECT_EQ(float_to_bits(1.01171875, Dtype::kBF16), 0x3f82u);  // 1 + 3*2^-8, to even
  EXPECT_EQ(float_to_bits(3.3895313892515355e38, Dtype::kBF16), 0x7f7fu);
  EXPECT_EQ(float_to_bits(3.4e38, Dtype::kBF16), 0x7f80u);
  EXPECT_EQ(float_to_bits(0x1p-133, Dtype::kBF16), 0x0001u);
}

TEST(Numeric, TowardZeroNeverGrows) {
  EXPECT_EQ(float_to_bits(65535.0, Dtype::kF16, Rounding::kTowardZero), 0x7bffu);
  EXPECT_EQ(float_to_bits(kInf, Dtype::kF16, Rounding::kTowardZero), 0x7c00u);
  EXPECT_EQ(float_to_bits(-1.9999999, Dtype::kBF16, Rounding::kTowardZero), 0xbfffu);
  EXPECT_EQ(float_to_bits(1.0 + 0x1p-24 + 0x1p-25, Dtype::kF32, Rounding::kTowardZero),
            0x3f800000u);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60) - 90);
    for (Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF8E4M3, Dtype::kF8E5M2}) {
      double narrow = bits_to_float(float_to_bits(value, dtype, Rounding::kTowardZero), dtype);
      ASSERT_LE(narrow, value);
      uint64_t next = float_to_bits(value, dtype, Rounding::kTowardZero) + 1;
      double above = bits_to_float(next, dtype);
      if (std::isfinite(above)) {
        ASSERT_GT(above, value);
      }
    }
  }
}

// Every pattern of the narrow types survives the round trip, and the middle of two neighbours goes
// to the even one.
TEST(Numeric, RoundTripsAndHalfwayCases) {
  for (Dtype dtype : {Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF16, Dtype::kBF16}) {
    uint64_t count = uint64_t{1} << dtype_bits(dtype), half = count / 2;
    for (uint64_t bits = 0; bits < count; ++bits) {
      double value = bits_to_float(bits, dtype);
      bool saturates = is_fp8(dtype) && std::isinf(value);
      if (std::isnan(value) || saturates) continue;
      ASSERT_EQ(float_to_bits(value, dtype), bits) << dtype_name(dtype);
      if (bits % half + 1 >= half) continue;
      double above = bits_to_float(bits + 1, dtype);
      if (!std::isfinite(above)) continue;
      uint64_t even = bits % 2 == 0 ? bits : bits + 1;
      double middle = (value + above) / 2;
      ASSERT_EQ(float_to_bits(middle, dtype), even);
      ASSERT_EQ(float_to_bits(std::nextafter(middle, value), dtype), bits);
      ASSERT_EQ(float_to_bits(std::nextafter(middle, above), dtype), bits + 1);
    }
  }
}

#ifdef __FLT16_MANT_DIG__
// The compiler's own half precision agrees, on random doubles of every magnitude.
TEST(Numeric, AgreesWithTheCompilersFloat16) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    double value = std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                              static_cast<int>(random() % 50) - 95);
    auto expected = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(float_to_bits(value, Dtype::kF16), expected) << value;
    ASSERT_EQ(bits_to_float(expected, Dtype::kF16),
              static_cast<double>(std::bit_cast<_Float16>(expected)));
  }
}
#endif

TEST(Numeric, Tf32) {
  EXPECT_EQ(round_to_tf32(1.0f), 1.0f);
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);  // a tie goes away from zero
  EXPECT_EQ(round_to_tf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(round_to_tf32(std::numeric_limits<float>::max()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(round_to_tf32(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(round_to_tf32(-std::numeric_limits<float>::infinity())));
}

TEST(Numeric, IntegersWrapAndExtend) {
  EXPECT_EQ(int_to_bits(-1, Dtype::kI8), 0xffu);
  EXPECT_EQ(bits_to_int(0xff, Dtype::kI8), -1);
  EXPECT_EQ(bits_to_int(0xff, Dtype::kU8), 255);
  EXPECT_EQ(bits_to_int(0x180, Dtype::kI8), -128);
  EXPECT_EQ(int_to_bits(300, Dtype::kU8), 44u);
  EXPECT_EQ(int_to_bits(2, Dtype::kI1), 0u);
  EXPECT_EQ(bits_to_int(1, Dtype::kI1), 1);  // i1 zero-extends
  EXPECT_EQ(bits_to_int(~uint64_t{0}, Dtype::kI64), -1);
}

TEST(Numeric, FloatToInteger) {
  EXPECT_EQ(float_to_int_bits(2.9, Dtype::kI32), 2u);
  EXPECT_EQ(bits_to_int(float_to_int_bits(-2.9, Dtype::kI32), Dtype::kI32), -2);
  EXPECT_EQ(float_to_int_bits(kNan, Dtype::kI32), 0u);
  EXPECT_EQ(float_to_int_bits(1e20, Dtype::kI32), 0x7fffffffu);
  EXPECT_EQ(float_to_int_bits(-1e20, Dtype::kI32), 0x80000000u);
  EXPECT_EQ(float_to_int_bits(-0x1p31, Dtype::kI32), 0x80000000u);
  EXPECT_EQ(float_to_int_bits(-1.0, Dtype::kU32), 0u);
  EXPECT_EQ(float_to_int_bits(kInf, Dtype::kU64), ~uint64_t{0});
  EXPECT_EQ(float_to_int_bits(0x1p63, Dtype::kU64), uint64_t{1} << 63);
  EXPECT_EQ(float_to_int_bits(0x1p63, Dtype::kI64), ~uint64_t{0} >> 1);
  EXPECT_EQ(float_to_int_bits(-0x1p63, Dtype::kI64), uint64_t{1} << 63);
  EXPECT_EQ(float_to_int_bits(128.0, Dtype::kI8), 127u);
  EXPECT_EQ(float_to_int_bits(0.25, Dtype::kI1), 1u);
  EXPECT_EQ(float_to_int_bits(-0.0, Dtype::kI1), 0u);
  EXPECT_EQ(float_to_int_bits(kNan, Dtype::kI1), 1u);  // NaN != 0
}

TEST(Numeric, Conversions) {
  auto f32 = [](float x) { return uint64_t{std::bit_cast<uint32_t>(x)}; };
  EXPECT_EQ(convert_bits(f32(1.5f), Dtype::kF32, Dtype::kF64), std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(convert_bits(f32(-3.7f), Dtype::kF32, Dtype::kI16), 0xfffdu);
  EXPECT_EQ(convert_bits(0x80, Dtype::kI8, Dtype::kI32), 0xffffff80u);
  EXPECT_EQ(convert_bits(0x80, Dtype::kU8, Dtype::kI32), 0x80u);
  EXPECT_EQ(convert_bits(0x100, Dtype::kI32, Dtype::kI1), 1u);  // != 0, not the low bit
  EXPECT_EQ(convert_bits(0x100, Dtype::kI32, Dtype::kU8), 0u);
  EXPECT_EQ(convert_bits(~uint64_t{0}, Dtype::kU64, Dtype::kF32), f32(0x1p64f));
  EXPECT_EQ(convert_bits(~uint64_t{0}, Dtype::kI64, Dtype::kF32), f32(-1.0f));
  EXPECT_EQ(convert_bits(16777217, Dtype::kI32, Dtype::kF32), f32(16777216.0f));
  // 64-bit integers go through f32: 2^24 + 2^16 + 1 first loses its last bit and is a tie then.
  EXPECT_EQ(convert_bits(16842753, Dtype::kI64, Dtype::kBF16), 0x4b80u);
  EXPECT_EQ(convert_bits(1, Dtype::kI1, Dtype::kBF16), 0x3f80u);
  EXPECT_EQ(convert_bits(100000, Dtype::kI32, Dtype::kF16), 0x7c00u);
  EXPECT_EQ(convert_bits(1000, Dtype::kI32, Dtype::kF8E4M3), 0x7eu);
}

}  // namespace
}  // namespace tilewright
