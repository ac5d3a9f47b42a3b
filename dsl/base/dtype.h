// Element types, shared by the language, the IR and the runtime.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "dsl/base/api.h"

namespace tilewright {

enum class Dtype : uint8_t {
  kI1,  // boolean; one byte in memory
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF8E4M3,  // e4m3fn: no infinities (Triton's float8e4nv)
  kF8E5M2,  // Triton's float8e5
  kF16,
  kBF16,
  kF32,
  kF64,
};

// Bits of the value (1 for i1) and bytes of its place in memory (1 for i1).
TILEWRIGHT_API int dtype_bits(Dtype dtype);
TILEWRIGHT_API int dtype_bytes(Dtype dtype);
bool is_float(Dtype dtype);
bool is_fp8(Dtype dtype);
bool is_int(Dtype dtype);       // i1 included
bool is_signed(Dtype dtype);    // i8..i64
bool is_unsigned(Dtype dtype);  // i1 and u8..u64

// IR and command-line spelling: i1 i8 … u64 f8e4m3 f8e5m2 f16 bf16 f32 f64.
TILEWRIGHT_API std::string_view dtype_name(Dtype dtype);
// Triton's spelling: int1 … uint64 float8e4nv float8e5 float16 bfloat16 float32 float64.
TILEWRIGHT_API std::string_view dtype_triton_name(Dtype dtype);
// Accepts both spellings and Triton's signature names (fp16 fp32 fp64 fp8e4nv fp8e5).
TILEWRIGHT_API std::optional<Dtype> parse_dtype(std::string_view name);

}  // namespace tilewright
