// Casts, bit casts and pointer arithmetic.
#include "tests/unit/interp/harness.h"

namespace tilewright::interp {
namespace {

uint64_t cast(Scalar x, Dtype to, ir::Attrs attrs = {}) {
  return eval(Op::Cast, {x}, std::move(attrs), to);
}
double cast_float(Scalar x, Dtype to, ir::Attrs attrs = {}) {
  return bits_to_float(cast(x, to, std::move(attrs)), to);
}
int64_t cast_int(Scalar x, Dtype to) {
  return bits_to_int(cast(x, to), to);
}

TEST(Cast, FloatToIntSaturates) {
  for (Dtype from : kFloats) {
    EXPECT_EQ(cast_int(num(from, -1.9), Dtype::kI32), -1);
    EXPECT_EQ(cast_int(num(from, kInf), Dtype::kI8), 127);
    EXPECT_EQ(cast_int(num(from, -kInf), Dtype::kI16), -32768);
    EXPECT_EQ(cast_int(num(from, -3), Dtype::kU8), 0);
    EXPECT_EQ(cast(num(from, kInf), Dtype::kU64), ~uint64_t{0});
    EXPECT_EQ(cast_int(num(from, kNan), Dtype::kI64), 0);
    EXPECT_EQ(cast_int(num(from, -kInf), Dtype::kI64), INT64_MIN);
  }
  EXPECT_EQ(cast_int(num(Dtype::kF32, 3e9), Dtype::kI32), INT32_MAX);
  EXPECT_EQ(cast_int(num(Dtype::kF32, 3e9), Dtype::kU32), 3000000000);
  EXPECT_EQ(cast_int(num(Dtype::kF32, 300), Dtype::kU8), 255);
}

TEST(Cast, ToBooleanIsNotZero) {
  EXPECT_EQ(cast(num(Dtype::kF32, 0.25), Dtype::kI1), 1u);
  EXPECT_EQ(cast(num(Dtype::kF16, -0.0), Dtype::kI1), 0u);
  EXPECT_EQ(cast(num(Dtype::kF32, kNan), Dtype::kI1), 1u);
  EXPECT_EQ(cast(integer(Dtype::kI32, 256), Dtype::kI1), 1u);
  EXPECT_EQ(cast(integer(Dtype::kI1, 1), Dtype::kI32), 1u);
  EXPECT_EQ(cast_float(integer(Dtype::kI1, 1), Dtype::kF16), 1);
}

TEST(Cast, IntegersWrapAndExtendBySourceSign) {
  EXPECT_EQ(cast_int(integer(Dtype::kI32, 0x1ff), Dtype::kI8), -1);
  EXPECT_EQ(cast(integer(Dtype::kI8, -1), Dtype::kU64), ~uint64_t{0});
  EXPECT_EQ(cast(integer(Dtype::kU8, 255), Dtype::kI64), 255u);
}

TEST(Cast, IntegersToFloats) {
  EXPECT_EQ(cast_float(integer(Dtype::kI32, 16777217), Dtype::kF32), 16777216);
  EXPECT_EQ(cast_float(integer(Dtype::kU64, -1), Dtype::kF32), std::ldexp(1, 64));
  EXPECT_EQ(cast_float(integer(Dtype::kI64, INT64_MIN), Dtype::kF64), -std::ldexp(1, 63));
  EXPECT_EQ(cast_float(integer(Dtype::kI32, 70000), Dtype::kF16), kInf);
}

TEST(Cast, FloatsNarrow) {
  EXPECT_EQ(cast_float(num(Dtype::kF64, 1 + std::ldexp(1, -30)), Dtype::kF32), 1);
  EXPECT_EQ(cast_float(num(Dtype::kF32, 1 + std::ldexp(1.5, -8)), Dtype::kBF16),
            1 + std::ldexp(1, -7));
  EXPECT_EQ(
      cast_float(num(Dtype::kF32, 1 + std::ldexp(1.5, -8)), Dtype::kBF16, {{"rounding", "rtz"}}),
      1);
  EXPECT_EQ(cast_float(num(Dtype::kF32, 1e6), Dtype::kF16), kInf);
  EXPECT_EQ(cast_float(num(Dtype::kF32, 1e6), Dtype::kF16, {{"rounding", "rtz"}}), 65504);
}

TEST(Cast, ToFp8SaturatesInfinitiesToo) {
  EXPECT_EQ(cast_float(num(Dtype::kF32, 1e6), Dtype::kF8E4M3), 448);
  EXPECT_EQ(cast_float(num(Dtype::kF32, -kInf), Dtype::kF8E4M3), -448);
  EXPECT_EQ(cast_float(num(Dtype::kF32, kInf), Dtype::kF8E5M2), 57344);
  EXPECT_TRUE(std::isnan(cast_float(num(Dtype::kF32, kNan), Dtype::kF8E4M3)));
  EXPECT_EQ(cast_float(num(Dtype::kF32, std::ldexp(1, -9)), Dtype::kF8E4M3), std::ldexp(1, -9));
  EXPECT_EQ(cast_float(num(Dtype::kF8E5M2, 1.75), Dtype::kF16), 1.75);
}

TEST(Bitcast, KeepsTheBits) {
  EXPECT_EQ(eval(Op::Bitcast, {num(Dtype::kF32, 1)}, {}, Dtype::kI32), 0x3f800000u);
  EXPECT_EQ(eval(Op::Bitcast, {integer(Dtype::kI16, -1)}, {}, Dtype::kU16), 0xffffu);
}

TEST(PtrAdd, ScalesAndExtendsBySign) {
  auto add = [](Dtype pointee, Scalar offset) {
    KernelBuilder k;
    auto pointer = k.param(Type::pointer(pointee)), amount = k.param(Type::scalar(offset.dtype));
    auto out = k.param(Type::pointer(Dtype::kI64));
    auto moved = k.b.make(Op::PtrAdd, {pointer, amount});
    auto address = k.b.make_as(Op::Cast, Type::scalar(Dtype::kI64), {moved});
    k.b.make_op(Op::Store, {out, address}, {}, {});
    uint64_t result = 0;
    k.run({1000, offset.bits, reinterpret_cast<uint64_t>(&result)}).value();
    return result;
  };
  EXPECT_EQ(add(Dtype::kF32, integer(Dtype::kI32, -1)), 996u);
  EXPECT_EQ(add(Dtype::kF64, integer(Dtype::kI8, 3)), 1024u);
  EXPECT_EQ(add(Dtype::kI1, integer(Dtype::kI32, 5)), 1005u);
  EXPECT_EQ(add(Dtype::kI8, integer(Dtype::kU32, -1)), 1000 + 0xffffffffull);
  EXPECT_EQ(add(Dtype::kF16, integer(Dtype::kI64, int64_t{1} << 40)), 1000 + (uint64_t{1} << 41));
}

}  // namespace
}  // namespace tilewright::interp
