#include "codegen/cuda/emulator/matrix.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::cuda {
namespace {

constexpr int kMaxM = 16, kN = 8, kMaxK = 32;

// Element `index` of a register array of T.
template <class T>
T element(const void* registers, int index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(registers) + index * sizeof(T), sizeof(T));
  return value;
}

float widen_f16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits >> 15) << 31, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

template <Dtype kDtype>
float widen_f8(uint8_t bits) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (unsigned i = 0; i < 256; ++i) values[i] = static_cast<float>(bits_to_float(i, kDtype));
    return values;
  }();
  return table[bits];
}

bool is_tf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x1fffu) == 0 || (bits & 0x7f800000u) == 0x7f800000u;
}

// Which element each register of a lane holds. With g = lane / 4, t = lane % 4 and p elements in a
// register: register r of A holds row g + 8 * (r % 2), columns 4p * (r / 2) + p * t + 0 … p-1
// (r / 1 and no second row block when m = 8); register r of B holds rows 4p * r + p * t + 0 … p-1
// of column g; d holds rows g and g + 8, columns 2t and 2t + 1.
template <class T, class Wide, class Widen>
void gather_a(const tw_mma_shape& shape, Lanes<const void> a, Wide (&out)[kMaxM][kMaxK],
              Widen widen) {
  constexpr int p = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  const int row_blocks = shape.m / 8, registers = shape.m * shape.k / (kWarpSize * p);
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int r = 0; r < registers; ++r)
      for (int i = 0; i < p; ++i)
        out[lane / 4 + 8 * (r % row_blocks)][4 * p * (r / row_blocks) + p * (lane % 4) + i] =
            widen(element<T>(a[lane], r * p + i));
}

template <class T, class Wide, class Widen>
void gather_b(const tw_mma_shape& shape, Lanes<const void> b, Wide (&out)[kMaxK][kN], Widen widen) {
  constexpr int p = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  const int registers = shape.n * shape.k / (kWarpSize * p);
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int r = 0; r < registers; ++r)
      for (int i = 0; i < p; ++i)
        out[4 * p * r + p * (lane % 4) + i][lane / 4] = widen(element<T>(b[lane], r * p + i));
}

template <class Wide, class Accumulator>
void multiply(const tw_mma_shape& shape, Lanes<void> d, const Wide (&a)[kMaxM][kMaxK],
              const Wide (&b)[kMaxK][kN]) {
  for (int row = 0; row < shape.m; ++row) {
    Wide sum[kN] = {};
    for (int k = 0; k < shape.k; ++k)
      for (int n = 0; n < kN; ++n) sum[n] += a[row][k] * b[k][n];
    for (int n = 0; n < kN; ++n) {
      int lane = row % 8 * 4 + n / 2;
      char* place = static_cast<char*>(d[lane]) + (row / 8 * 2 + n % 2) * sizeof(Accumulator);
      Accumulator value;
      std::memcpy(&value, place, sizeof value);
      // Integers wrap; floats round once.
      value = static_cast<Accumulator>(static_cast<Wide>(value) + sum[n]);
      std::memcpy(place, &value, sizeof value);
    }
  }
}

// Calls use(T{}, widen) for the storage type of an operand and its widening.
template <class Use>
void with_float_operand(tw_mma_type type, Use use) {
  switch (type) {
    case kTwMmaF16:
      return use(uint16_t{}, [](uint16_t x) { return static_cast<double>(widen_f16(x)); });
    case kTwMmaBf16:
      return use(uint16_t{}, [](uint16_t x) {
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x) << 16));
      });
    case kTwMmaTf32:
      return use(float{}, [](float x) { return static_cast<double>(x); });
    case kTwMmaE4m3:
      return use(uint8_t{},
                 [](uint8_t x) { return static_cast<double>(widen_f8<Dtype::kF8E4M3>(x)); });
    case kTwMmaE5m2:
      return use(uint8_t{},
                 [](uint8_t x) { return static_cast<double>(widen_f8<Dtype::kF8E5M2>(x)); });
    case kTwMmaF64:
      return use(double{}, [](double x) { return x; });
    case kTwMmaI8:
    case kTwMmaU8:
      break;
  }
  TW_UNREACHABLE("integer operand of a float multiplication");
}

template <class T>
void multiply_integers(const tw_mma_shape& shape, Lanes<void> d, Lanes<const void> a,
                       Lanes<const void> b) {
  static_assert(sizeof(T) == 1);
  auto widen = [](T x) { return static_cast<int64_t>(x); };
  int64_t wide_a[kMaxM][kMaxK], wide_b[kMaxK][kN];
  gather_a<T>(shape, a, wide_a, widen);
  gather_b<T>(shape, b, wide_b, widen);
  multiply<int64_t, int32_t>(shape, d, wide_a, wide_b);
}

bool all_tf32(const tw_mma_shape& shape, Lanes<const void> a, Lanes<const void> b) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < shape.m * shape.k / kWarpSize; ++i)
      if (!is_tf32(element<float>(a[lane], i))) return false;
    for (int i = 0; i < shape.n * shape.k / kWarpSize; ++i)
      if (!is_tf32(element<float>(b[lane], i))) return false;
  }
  return true;
}

}  // namespace

bool multiply_accumulate(const tw_mma_shape& shape, Lanes<void> d, Lanes<const void> a,
                         Lanes<const void> b) {
  TW_CHECK((shape.m == 8 || shape.m == 16) && shape.n == kN && shape.k <= kMaxK, "mma shape");
  if (shape.a == kTwMmaI8 || shape.a == kTwMmaU8) {
    TW_CHECK(shape.a == shape.b, "mma operands");
    if (shape.a == kTwMmaI8)
      multiply_integers<int8_t>(shape, d, a, b);
    else
      multiply_integers<uint8_t>(shape, d, a, b);
    return true;
  }
  if (shape.a == kTwMmaTf32 && !all_tf32(shape, a, b)) return false;
  double wide_a[kMaxM][kMaxK], wide_b[kMaxK][kN];
  with_float_operand(
      shape.a, [&](auto type, auto widen) { gather_a<decltype(type)>(shape, a, wide_a, widen); });
  with_float_operand(
      shape.b, [&](auto type, auto widen) { gather_b<decltype(type)>(shape, b, wide_b, widen); });
  if (shape.a == kTwMmaF64)
    multiply<double, double>(shape, d, wide_a, wide_b);
  else
    multiply<double, float>(shape, d, wide_a, wide_b);
  return true;
}

}  // namespace tilewright::cuda
