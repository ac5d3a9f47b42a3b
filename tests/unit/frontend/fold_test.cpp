// Constant arithmetic has Python's meaning.
#include "frontend/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewright::frontend {
namespace {

using dsl::Operator;

Constant integer(int64_t value) {
  return Constant::integer_of(value);
}
Constant big(uint64_t value) {
  Constant c = Constant::integer_of(static_cast<int64_t>(value));
  c.is_unsigned = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return c;
}
std::string fold(Operator op, const Constant& a, const Constant& b) {
  auto result = fold_binary(op, a, b);
  return result ? to_string(*result) : std::string(diag_name(result.error().kind));
}

TEST(Fold, DivisionFloors) {
  EXPECT_EQ(fold(Operator::kFloorDiv, integer(7), integer(2)), "3");
  EXPECT_EQ(fold(Operator::kFloorDiv, integer(-7), integer(2)), "-4");
  EXPECT_EQ(fold(Operator::kFloorDiv, integer(7), integer(-2)), "-4");
  EXPECT_EQ(fold(Operator::kMod, integer(-7), integer(4)), "1");
  EXPECT_EQ(fold(Operator::kMod, integer(7), integer(-4)), "-1");
  EXPECT_EQ(fold(Operator::kDiv, integer(1), integer(2)), "0.5");
  EXPECT_EQ(fold_binary(Operator::kFloorDiv, Constant::real(-7.5), integer(2))->number, -4.0);
  EXPECT_EQ(fold_binary(Operator::kMod, Constant::real(-7.5), integer(2))->number, 0.5);
  // floor(1 / 0.1) is 10 in floating point, but the exact quotient is just below.
  EXPECT_EQ(fold_binary(Operator::kFloorDiv, Constant::real(1.0), Constant::real(0.1))->number,
            9.0);
  EXPECT_EQ(fold(Operator::kDiv, integer(1), integer(0)), "division-by-zero");
  EXPECT_EQ(fold(Operator::kMod, Constant::real(1), integer(0)), "division-by-zero");
}

TEST(Fold, PowerAndShift) {
  EXPECT_EQ(fold(Operator::kPow, integer(2), integer(10)), "1024");
  EXPECT_EQ(fold(Operator::kPow, integer(-2), integer(63)), "-9223372036854775808");
  EXPECT_EQ(fold(Operator::kPow, integer(2), integer(63)), "9223372036854775808");
  EXPECT_EQ(fold(Operator::kPow, integer(2), integer(64)), "constant-overflow");
  EXPECT_EQ(fold(Operator::kPow, integer(1), integer(1'000'000'000'000)), "1");
  EXPECT_EQ(fold(Operator::kPow, integer(-1), integer(1'000'000'000'001)), "-1");
  EXPECT_EQ(fold(Operator::kPow, integer(2), integer(-1)), "0.5");
  EXPECT_EQ(fold(Operator::kPow, integer(0), integer(-1)), "division-by-zero");
  EXPECT_EQ(fold(Operator::kPow, Constant::real(-1), Constant::real(0.5)), "bad-operand");
  EXPECT_EQ(fold(Operator::kShl, integer(1), integer(63)), "9223372036854775808");
  EXPECT_EQ(fold(Operator::kShl, integer(1), integer(64)), "constant-overflow");
  EXPECT_EQ(fold(Operator::kShl, integer(-1), integer(63)), "-9223372036854775808");
  EXPECT_EQ(fold(Operator::kShr, integer(-5), integer(1)), "-3");
  EXPECT_EQ(fold(Operator::kShr, integer(-5), integer(1000)), "-1");
  EXPECT_EQ(fold(Operator::kShl, integer(1), integer(-1)), "bad-operand");
}

TEST(Fold, IntegersAreExactInSixtyFourBits) {
  Constant top = big(~uint64_t{0});
  EXPECT_EQ(fold(Operator::kAdd, top, integer(1)), "constant-overflow");
  EXPECT_EQ(fold(Operator::kSub, top, top), "0");
  EXPECT_EQ(fold(Operator::kMul, top, top), "constant-overflow");
  EXPECT_EQ(fold(Operator::kMul, top, integer(-1)), "constant-overflow");
  EXPECT_EQ(fold(Operator::kSub, integer(0), big(uint64_t{1} << 63)), "-9223372036854775808");
  EXPECT_EQ(fold(Operator::kAnd, top, integer(255)), "255");
  EXPECT_EQ(fold(Operator::kGt, top, integer(-1)), "True");
  EXPECT_EQ(fold_unary(Operator::kNeg, top).error().kind, DiagKind::kConstantOverflow);
  EXPECT_EQ(to_string(*fold_unary(Operator::kInvert, integer(5))), "-6");
}

TEST(Fold, MixedComparisonsAreExact) {
  // 2^53 + 1 is no double; a comparison through doubles would call these equal.
  EXPECT_EQ(fold(Operator::kEq, integer((int64_t{1} << 53) + 1), Constant::real(0x1p53)), "False");
  EXPECT_EQ(fold(Operator::kEq, integer(1), Constant::boolean(true)), "True");
  EXPECT_EQ(fold(Operator::kLt, integer(1), Constant::real(1.5)), "True");
  EXPECT_EQ(fold(Operator::kEq, Constant::string("a"), integer(1)), "False");
  EXPECT_EQ(fold(Operator::kLt, Constant::string("a"), Constant::string("b")), "True");
  EXPECT_EQ(fold(Operator::kLt, Constant::string("a"), integer(1)), "bad-operand");
  EXPECT_EQ(fold(Operator::kIs, Constant::none(), Constant::none()), "True");
  EXPECT_EQ(fold(Operator::kIs, integer(1), Constant::boolean(true)), "False");
  EXPECT_EQ(fold(Operator::kIsNot, integer(1), Constant::none()), "True");
}

TEST(Fold, SequencesAndTruth) {
  Constant pair;
  pair.kind = Constant::Kind::kTuple;
  pair.elements = {integer(1), integer(2)};
  EXPECT_EQ(fold(Operator::kAdd, pair, pair), "(1, 2, 1, 2)");
  EXPECT_EQ(fold(Operator::kMul, pair, integer(2)), "(1, 2, 1, 2)");
  EXPECT_EQ(fold(Operator::kMul, pair, integer(1'000'000'000)), "bad-operand");
  EXPECT_EQ(fold(Operator::kIn, integer(2), pair), "True");
  EXPECT_EQ(fold(Operator::kNotIn, integer(2), pair), "False");
  EXPECT_EQ(fold(Operator::kIn, Constant::string("b"), Constant::string("abc")), "True");
  EXPECT_FALSE(truth(Constant::none()));
  EXPECT_FALSE(truth(Constant::real(0)));
  EXPECT_FALSE(truth(Constant::string("")));
  EXPECT_TRUE(truth(pair));
  EXPECT_EQ(fold(Operator::kXor, Constant::boolean(true), Constant::boolean(true)), "False");
  EXPECT_EQ(fold(Operator::kAdd, Constant::boolean(true), Constant::boolean(true)), "2");
}

}  // namespace
}  // namespace tilewright::frontend
