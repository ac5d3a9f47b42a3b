// Scalar number formats in software: the one definition of rounding that the interpreter, constant
// folding, the CPU backend's helpers, the emulator and the tests share (LANGUAGE.md, "Numerics").
#pragma once

#include <cstdint>

#include "dsl/base/dtype.h"

namespace tilewright {

enum class Rounding : uint8_t { kNearestEven, kTowardZero };

// Narrows a double to the bits of a float format with one rounding. f16, bf16, f32: overflow gives
// infinity. fp8: saturates to the largest finite value, infinities too; NaN stays NaN.
uint64_t float_to_bits(double value, Dtype dtype, Rounding rounding = Rounding::kNearestEven);
// The exact value of a float format's bits.
double bits_to_float(uint64_t bits, Dtype dtype);
// The value an integer format's bits stand for; i1 and unsigned types zero-extend, others
// sign-extend.
int64_t bits_to_int(uint64_t bits, Dtype dtype);
// Keeps the low bits of the type (two's complement wrap); i1 keeps bit 0.
uint64_t int_to_bits(int64_t value, Dtype dtype);
// Truncates toward zero, saturates at the type's range, NaN gives 0; i1 is "value != 0".
uint64_t float_to_int_bits(double value, Dtype dtype);
// Any numeric conversion of `cast`, bits to bits (LANGUAGE.md, "Casts").
uint64_t convert_bits(uint64_t bits, Dtype from, Dtype to,
                      Rounding rounding = Rounding::kNearestEven);
// Rounds a float to TF32 (10 fraction bits, ties away from zero), as cvt.rna.tf32 does.
float round_to_tf32(float value);

}  // namespace tilewright
