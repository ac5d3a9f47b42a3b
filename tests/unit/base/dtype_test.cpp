#include "dsl/base/dtype.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

TEST(Dtype, EveryNameReadsBack) {
  for (int i = 0; i <= static_cast<int>(Dtype::kF64); ++i) {
    auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_EQ(parse_dtype(dtype_triton_name(dtype)), dtype);
    EXPECT_EQ(is_int(dtype), !is_float(dtype));
    EXPECT_EQ(is_int(dtype), is_signed(dtype) || is_unsigned(dtype));
    EXPECT_FALSE(is_signed(dtype) && is_unsigned(dtype));
    // The digits of the IR's name are the width (f8e4m3 has more of them).
    std::string digits(dtype_name(dtype).substr(dtype_name(dtype).find_first_of("123468")));
    EXPECT_EQ(dtype_bits(dtype), std::stoi(digits));
    EXPECT_EQ(dtype_bytes(dtype), dtype == Dtype::kI1 ? 1 : dtype_bits(dtype) / 8);
  }
}

TEST(Dtype, OtherSpellings) {
  EXPECT_EQ(parse_dtype("fp16"), Dtype::kF16);
  EXPECT_EQ(parse_dtype("fp32"), Dtype::kF32);
  EXPECT_EQ(parse_dtype("fp8e4nv"), Dtype::kF8E4M3);
  EXPECT_EQ(parse_dtype("fp8e5"), Dtype::kF8E5M2);
  EXPECT_EQ(parse_dtype("bool"), Dtype::kI1);
  for (const char* no : {"", "f", "i3", "float", "F32", "fp8", "i32 "})
    EXPECT_FALSE(parse_dtype(no)) << no;
}

TEST(Dtype, Classes) {
  EXPECT_TRUE(is_fp8(Dtype::kF8E4M3) && is_fp8(Dtype::kF8E5M2) && !is_fp8(Dtype::kU8));
  EXPECT_TRUE(is_unsigned(Dtype::kI1) && is_unsigned(Dtype::kU64) && is_signed(Dtype::kI64));
}

}  // namespace
}  // namespace tilewright
