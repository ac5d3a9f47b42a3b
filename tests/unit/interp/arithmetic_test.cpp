// Integer and float arithmetic at the edges that LANGUAGE.md decides.
#include "tests/unit/interp/harness.h"

namespace tilewright::interp {
namespace {

int64_t smallest(Dtype d) {
  return is_signed(d) ? bits_to_int(uint64_t{1} << (dtype_bits(d) - 1), d) : 0;
}
int64_t largest(Dtype d) {
  return is_signed(d) ? bits_to_int((uint64_t{1} << (dtype_bits(d) - 1)) - 1, d)
                      : bits_to_int(int_to_bits(-1, d), d);
}

class Ints : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(All, Ints, ::testing::ValuesIn(kInts),
                         [](const auto& i) { return std::string(dtype_name(i.param)); });

TEST_P(Ints, SumsAndProductsWrap) {
  Dtype d = GetParam();
  EXPECT_EQ(eval(Op::Add, {integer(d, largest(d)), integer(d, 1)}), int_to_bits(smallest(d), d));
  EXPECT_EQ(eval(Op::Sub, {integer(d, smallest(d)), integer(d, 1)}), int_to_bits(largest(d), d));
  EXPECT_EQ(eval(Op::Mul, {integer(d, largest(d)), integer(d, 2)}), int_to_bits(-2, d));
  EXPECT_EQ(eval(Op::Neg, {integer(d, smallest(d))}), int_to_bits(smallest(d), d));
}

TEST_P(Ints, DivisionIsGuarded) {
  Dtype d = GetParam();
  EXPECT_EQ(eval(Op::Div, {integer(d, 7), integer(d, 0)}), int_to_bits(-1, d));
  EXPECT_EQ(eval(Op::Rem, {integer(d, 7), integer(d, 0)}), int_to_bits(7, d));
  EXPECT_EQ(eval_int(Op::Div, {integer(d, 7), integer(d, 2)}), 3);
  EXPECT_EQ(eval_int(Op::Rem, {integer(d, 7), integer(d, 2)}), 1);
  EXPECT_EQ(eval(Op::Div, {integer(d, largest(d)), integer(d, 1)}), int_to_bits(largest(d), d));
  if (!is_signed(d)) return;
  EXPECT_EQ(eval_int(Op::Div, {integer(d, -7), integer(d, 2)}), -3);
  EXPECT_EQ(eval_int(Op::Rem, {integer(d, -7), integer(d, 2)}), -1);
  EXPECT_EQ(eval_int(Op::Rem, {integer(d, 7), integer(d, -2)}), 1);
  EXPECT_EQ(eval_int(Op::Div, {integer(d, smallest(d)), integer(d, -1)}), smallest(d));
  EXPECT_EQ(eval_int(Op::Rem, {integer(d, smallest(d)), integer(d, -1)}), 0);
  EXPECT_EQ(eval(Op::Rem, {integer(d, -7), integer(d, 0)}), int_to_bits(-7, d));
}

TEST_P(Ints, ShiftsByTheWidthOrMore) {
  Dtype d = GetParam();
  int width = dtype_bits(d);
  EXPECT_EQ(eval(Op::Shl, {integer(d, 1), integer(d, width - 1)}), uint64_t{1} << (width - 1));
  EXPECT_EQ(eval(Op::Shl, {integer(d, 3), integer(d, width)}), 0u);
  EXPECT_EQ(eval(Op::Shl, {integer(d, 3), integer(d, -1)}), 0u) << "the amount is unsigned";
  EXPECT_EQ(eval(Op::Shr, {integer(d, largest(d)), integer(d, width)}), 0u);
  uint64_t filled = is_signed(d) ? int_to_bits(-1, d) : 0;
  EXPECT_EQ(eval(Op::Shr, {integer(d, -5), integer(d, width)}), filled);
  EXPECT_EQ(eval(Op::Shr, {integer(d, -5), integer(d, -1)}), filled);
  EXPECT_EQ(eval(Op::Shr, {integer(d, 12), integer(d, 2)}), 3u);
  if (is_signed(d)) {
    EXPECT_EQ(eval_int(Op::Shr, {integer(d, -5), integer(d, 1)}), -3);
  }
}

TEST_P(Ints, OrderIsThatOfTheType) {
  Dtype d = GetParam();
  Scalar a = integer(d, smallest(d)), b = integer(d, largest(d));
  EXPECT_EQ(eval(Op::Min, {a, b}), a.bits);
  EXPECT_EQ(eval(Op::Max, {a, b}), b.bits);
  EXPECT_EQ(eval(Op::Max, {b, a}), b.bits);
  EXPECT_EQ(eval(Op::Cmp, {a, b}, {{"pred", "lt"}}), 1u);
  EXPECT_EQ(eval(Op::Cmp, {a, b}, {{"pred", "ge"}}), 0u);
  EXPECT_EQ(eval(Op::Cmp, {a, a}, {{"pred", "le"}}), 1u);
  EXPECT_EQ(eval(Op::Cmp, {a, b}, {{"pred", "eq"}}), 0u);
  EXPECT_EQ(eval(Op::Cmp, {a, b}, {{"pred", "ne"}}), 1u);
  EXPECT_EQ(eval(Op::Cmp, {b, a}, {{"pred", "gt"}}), 1u);
}

TEST_P(Ints, BitsAndMagnitude) {
  Dtype d = GetParam();
  EXPECT_EQ(eval(Op::And, {integer(d, 12), integer(d, 10)}), 8u);
  EXPECT_EQ(eval(Op::Or, {integer(d, 12), integer(d, 10)}), 14u);
  EXPECT_EQ(eval(Op::Xor, {integer(d, 12), integer(d, 10)}), 6u);
  EXPECT_EQ(eval(Op::Not, {integer(d, 12)}), int_to_bits(-13, d));
  EXPECT_EQ(eval(Op::Abs, {integer(d, -3)}), is_signed(d) ? 3u : int_to_bits(-3, d));
  EXPECT_EQ(eval(Op::Abs, {integer(d, smallest(d))}), int_to_bits(smallest(d), d));
}

TEST(IntegerOps, MulHiFollowsSignedness) {
  EXPECT_EQ(eval(Op::MulHi, {integer(Dtype::kU32, -1), integer(Dtype::kU32, -1)}), 0xfffffffeu);
  EXPECT_EQ(eval(Op::MulHi, {integer(Dtype::kI32, -1), integer(Dtype::kI32, -1)}), 0u);
  EXPECT_EQ(eval(Op::MulHi, {integer(Dtype::kI32, -1), integer(Dtype::kI32, 1)}), 0xffffffffu);
  EXPECT_EQ(eval(Op::MulHi, {integer(Dtype::kU64, -1), integer(Dtype::kU64, -1)}),
            0xfffffffffffffffeu);
  EXPECT_EQ(eval(Op::MulHi, {integer(Dtype::kI64, INT64_MIN), integer(Dtype::kI64, 2)}),
            ~uint64_t{0});
}

TEST(IntegerOps, BooleansAreOneBit) {
  Scalar t = integer(Dtype::kI1, 1), f = integer(Dtype::kI1, 0);
  EXPECT_EQ(eval(Op::Not, {t}), 0u);
  EXPECT_EQ(eval(Op::Not, {f}), 1u);
  EXPECT_EQ(eval(Op::Mul, {t, t}), 1u);
  EXPECT_EQ(eval(Op::Add, {t, t}), 0u);
  EXPECT_EQ(eval(Op::Max, {t, f}), 1u);
  EXPECT_EQ(eval(Op::Select, {t, integer(Dtype::kI32, 5), integer(Dtype::kI32, 6)}), 5u);
  EXPECT_EQ(eval(Op::Select, {f, integer(Dtype::kI32, 5), integer(Dtype::kI32, 6)}), 6u);
}

class Floats : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(All, Floats, ::testing::ValuesIn(kFloats),
                         [](const auto& i) { return std::string(dtype_name(i.param)); });

TEST_P(Floats, MinAndMaxOrderZerosAndDropNan) {
  Dtype d = GetParam();
  Scalar plus = num(d, 0.0), minus = num(d, -0.0), nan = num(d, kNan), two = num(d, 2);
  EXPECT_EQ(eval(Op::Min, {plus, minus}), minus.bits);
  EXPECT_EQ(eval(Op::Min, {minus, plus}), minus.bits);
  EXPECT_EQ(eval(Op::Max, {plus, minus}), plus.bits);
  EXPECT_EQ(eval(Op::Max, {minus, plus}), plus.bits);
  EXPECT_EQ(eval(Op::Max, {nan, two}), two.bits);
  EXPECT_EQ(eval(Op::Min, {two, nan}), two.bits);
  EXPECT_TRUE(std::isnan(eval_float(Op::Min, {nan, nan})));
  EXPECT_TRUE(std::isnan(eval_float(Op::Max, {two, nan}, {{"nan", "propagate"}})));
  EXPECT_TRUE(std::isnan(eval_float(Op::Min, {nan, two}, {{"nan", "propagate"}})));
  EXPECT_EQ(eval(Op::Max, {two, num(d, -kInf)}), two.bits);
}

TEST_P(Floats, ComparisonsWithNanAreFalseExceptNe) {
  Dtype d = GetParam();
  for (const char* pred : {"eq", "lt", "le", "gt", "ge"})
    EXPECT_EQ(eval(Op::Cmp, {num(d, kNan), num(d, kNan)}, {{"pred", pred}}), 0u) << pred;
  EXPECT_EQ(eval(Op::Cmp, {num(d, kNan), num(d, 1)}, {{"pred", "ne"}}), 1u);
  EXPECT_EQ(eval(Op::Cmp, {num(d, 0.0), num(d, -0.0)}, {{"pred", "eq"}}), 1u);
}

TEST_P(Floats, NegAndAbsTouchTheSignBitOnly) {
  Dtype d = GetParam();
  uint64_t sign = uint64_t{1} << (dtype_bits(d) - 1);
  EXPECT_EQ(eval(Op::Neg, {num(d, 0.0)}), sign);
  Scalar nan{d, num(d, kNan).bits | 1};
  EXPECT_EQ(eval(Op::Neg, {nan}), nan.bits ^ sign);
  EXPECT_EQ(eval(Op::Abs, {num(d, -1.5)}), num(d, 1.5).bits);
  EXPECT_EQ(eval(Op::Abs, {{d, nan.bits | sign}}), nan.bits & ~sign);
}

TEST_P(Floats, DivisionAndRemainder) {
  Dtype d = GetParam();
  EXPECT_EQ(eval_float(Op::Div, {num(d, 1), num(d, 0.0)}), kInf);
  EXPECT_EQ(eval_float(Op::Div, {num(d, 1), num(d, -0.0)}), -kInf);
  EXPECT_TRUE(std::isnan(eval_float(Op::Div, {num(d, 0), num(d, 0)})));
  EXPECT_EQ(eval(Op::DivRn, {num(d, 1), num(d, 3)}), num(d, 1.0 / 3).bits);
  EXPECT_EQ(eval_float(Op::Rem, {num(d, -7), num(d, 2)}), -1);
  EXPECT_EQ(eval_float(Op::Rem, {num(d, 7), num(d, -2.5)}), 2);
}

TEST_P(Floats, FloorCeilAndFunctions) {
  Dtype d = GetParam();
  EXPECT_EQ(eval_float(Op::Floor, {num(d, -1.5)}), -2);
  EXPECT_EQ(eval_float(Op::Ceil, {num(d, -1.5)}), -1);
  EXPECT_EQ(eval(Op::Ceil, {num(d, -0.5)}), num(d, -0.0).bits);
  EXPECT_EQ(eval_float(Op::Exp, {num(d, 0)}), 1);
  EXPECT_EQ(eval_float(Op::Exp2, {num(d, 3)}), 8);
  EXPECT_EQ(eval_float(Op::Log, {num(d, 0)}), -kInf);
  EXPECT_TRUE(std::isnan(eval_float(Op::Log, {num(d, -1)})));
  EXPECT_EQ(eval_float(Op::Log2, {num(d, 0.25)}), -2);
  EXPECT_EQ(eval(Op::Sin, {num(d, 1)}), num(d, std::sin(1.0)).bits);
  EXPECT_EQ(eval(Op::Cos, {num(d, 1)}), num(d, std::cos(1.0)).bits);
  EXPECT_EQ(eval(Op::Tanh, {num(d, 0.5)}), num(d, std::tanh(0.5)).bits);
  EXPECT_EQ(eval(Op::Erf, {num(d, 0.5)}), num(d, std::erf(0.5)).bits);
  EXPECT_EQ(eval_float(Op::Sqrt, {num(d, 2.25)}), 1.5);
  EXPECT_EQ(eval(Op::SqrtRn, {num(d, 2)}), num(d, std::sqrt(2.0)).bits);
  EXPECT_EQ(eval_float(Op::Rsqrt, {num(d, 4)}), 0.5);
  EXPECT_EQ(eval_float(Op::Rsqrt, {num(d, 0)}), kInf);
  EXPECT_TRUE(std::isnan(eval_float(Op::Exp, {num(d, kNan)})));
}

TEST(FloatOps, NarrowTypesRoundOnce) {
  // 1 + 2^-11 is a tie in f16 and goes to even; anything more goes up.
  EXPECT_EQ(eval_float(Op::Add, {num(Dtype::kF16, 1), num(Dtype::kF16, std::ldexp(1, -11))}), 1);
  EXPECT_EQ(eval_float(Op::Add, {num(Dtype::kF16, 1), num(Dtype::kF16, std::ldexp(1.5, -11))}),
            1 + std::ldexp(1, -10));
  EXPECT_EQ(eval_float(Op::Mul, {num(Dtype::kF16, 300), num(Dtype::kF16, 300)}), kInf);
  // Subnormals are kept.
  EXPECT_EQ(eval_float(Op::Mul, {num(Dtype::kF16, std::ldexp(1, -14)), num(Dtype::kF16, 0.5)}),
            std::ldexp(1, -15));
  EXPECT_EQ(eval_float(Op::Mul, {num(Dtype::kF32, std::ldexp(1, -126)), num(Dtype::kF32, 0.25)}),
            std::ldexp(1, -128));
  EXPECT_EQ(eval_float(Op::Sub, {num(Dtype::kBF16, 256), num(Dtype::kBF16, 1)}), 255);
  EXPECT_EQ(eval_float(Op::Add, {num(Dtype::kBF16, 256), num(Dtype::kBF16, 1)}), 256);
}

TEST(FloatOps, FmaRoundsTheSumOnly) {
  // (1+e)(1-e) - 1 = -e^2, which a separate multiplication would lose.
  for (Dtype d : {Dtype::kF32, Dtype::kF64}) {
    double e = std::ldexp(1, d == Dtype::kF32 ? -23 : -52);
    EXPECT_EQ(eval_float(Op::Fma, {num(d, 1 + e), num(d, 1 - e), num(d, -1)}), -e * e);
  }
  // f16: the product 65504*2 overflows the type but not the sum.
  EXPECT_EQ(
      eval_float(Op::Fma, {num(Dtype::kF16, 65504), num(Dtype::kF16, 2), num(Dtype::kF16, -65504)}),
      65504);
  // The fma is that of f32, and its result is what gets rounded: 7*37 - 2^-30 is 259 in f32, which
  // is a tie between the bf16 numbers 258 and 260 and goes to the even one.
  EXPECT_EQ(eval_float(Op::Fma, {num(Dtype::kBF16, 7), num(Dtype::kBF16, 37),
                                 num(Dtype::kBF16, -std::ldexp(1, -30))}),
            260);
}

}  // namespace
}  // namespace tilewright::interp
