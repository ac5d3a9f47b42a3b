#include "dsl/base/dtype.h"

namespace tilewright {
namespace {

struct Row {
  std::string_view name, triton, alias;
  uint8_t bits;
  char kind;  // 'b' boolean, 's' signed, 'u' unsigned, 'f' float
};

// In the order of the enumeration.
constexpr Row kRows[] = {
    {"i1", "int1", "bool", 1, 'b'},          {"i8", "int8", "", 8, 's'},
    {"i16", "int16", "", 16, 's'},           {"i32", "int32", "", 32, 's'},
    {"i64", "int64", "", 64, 's'},           {"u8", "uint8", "", 8, 'u'},
    {"u16", "uint16", "", 16, 'u'},          {"u32", "uint32", "", 32, 'u'},
    {"u64", "uint64", "", 64, 'u'},          {"f8e4m3", "float8e4nv", "fp8e4nv", 8, 'f'},
    {"f8e5m2", "float8e5", "fp8e5", 8, 'f'}, {"f16", "float16", "fp16", 16, 'f'},
    {"bf16", "bfloat16", "", 16, 'f'},       {"f32", "float32", "fp32", 32, 'f'},
    {"f64", "float64", "fp64", 64, 'f'},
};

constexpr const Row& row(Dtype dtype) {
  return kRows[static_cast<int>(dtype)];
}
static_assert(row(Dtype::kF64).bits == 64 && std::size(kRows) == 15);

}  // namespace

int dtype_bits(Dtype dtype) {
  return row(dtype).bits;
}
int dtype_bytes(Dtype dtype) {
  return (row(dtype).bits + 7) / 8;
}
bool is_float(Dtype dtype) {
  return row(dtype).kind == 'f';
}
bool is_fp8(Dtype dtype) {
  return dtype == Dtype::kF8E4M3 || dtype == Dtype::kF8E5M2;
}
bool is_int(Dtype dtype) {
  return !is_float(dtype);
}
bool is_signed(Dtype dtype) {
  return row(dtype).kind == 's';
}
bool is_unsigned(Dtype dtype) {
  return row(dtype).kind == 'u' || row(dtype).kind == 'b';
}
std::string_view dtype_name(Dtype dtype) {
  return row(dtype).name;
}
std::string_view dtype_triton_name(Dtype dtype) {
  return row(dtype).triton;
}

std::optional<Dtype> parse_dtype(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (name == kRows[i].name || name == kRows[i].triton || name == kRows[i].alias)
      return static_cast<Dtype>(i);
  return std::nullopt;
}

}  // namespace tilewright
