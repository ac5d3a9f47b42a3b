#include "codegen/cuda/emulator/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::cuda {
namespace {

constexpr int kMaxM = 16, kN = 8, kMaxK = 64;

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

// Element `index` of packed nibbles, the low one of a byte first.
template <bool kSigned>
int64_t nibble(const void* registers, int index) {
  int value = element<uint8_t>(registers, index / 2) >> index % 2 * 4 & 15;
  return kSigned && value > 7 ? value - 16 : value;
}

// Which element each register of a lane holds. With g = lane / 4, t = lane % 4 and p elements in a
// register: register r of A holds row g + 8 * (r % 2), columns 4p * (r / 2) + p * t + 0 … p-1
// (r / 1 and no second row block when m = 8); register r of B holds rows 4p * r + p * t + 0 … p-1
// of column g; d holds rows g and g + 8, columns 2t and 2t + 1. `get` reads an element of a lane's
// registers; elements have kBits bits.
template <int kBits, class Wide, class Get>
void gather_a(const tw_mma_shape& shape, Lanes<const void> a, Wide (&out)[kMaxM][kMaxK], Get get) {
  constexpr int p = kBits < 32 ? 32 / kBits : 1;
  const int row_blocks = shape.m / 8, registers = shape.m * shape.k / (kWarpSize * p);
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int r = 0; r < registers; ++r)
      for (int i = 0; i < p; ++i)
        out[lane / 4 + 8 * (r % row_blocks)][4 * p * (r / row_blocks) + p * (lane % 4) + i] =
            get(a[lane], r * p + i);
}

template <int kBits, class Wide, class Get>
void gather_b(const tw_mma_shape& shape, Lanes<const void> b, Wide (&out)[kMaxK][kN], Get get) {
  constexpr int p = kBits < 32 ? 32 / kBits : 1;
  const int registers = shape.n * shape.k / (kWarpSize * p);
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int r = 0; r < registers; ++r)
      for (int i = 0; i < p; ++i)
        out[4 * p * r + p * (lane % 4) + i][lane / 4] = get(b[lane], r * p + i);
}

// The sum as the accumulator holds it: integers wrap; floats round once.
template <class Accumulator, class Wide>
void add(char* place, Wide sum) {
  Accumulator value;
  std::memcpy(&value, place, sizeof value);
  value = static_cast<Accumulator>(static_cast<Wide>(value) + sum);
  std::memcpy(place, &value, sizeof value);
}
struct Half {};
template <>
void add<Half, double>(char* place, double sum) {
  uint16_t bits;
  std::memcpy(&bits, place, sizeof bits);
  bits = static_cast<uint16_t>(float_to_bits(widen_f16(bits) + sum, Dtype::kF16));
  std::memcpy(place, &bits, sizeof bits);
}

template <class Wide, class Accumulator>
void multiply(const tw_mma_shape& shape, Lanes<void> d, const Wide (&a)[kMaxM][kMaxK],
              const Wide (&b)[kMaxK][kN]) {
  constexpr int bytes = std::is_same_v<Accumulator, Half> ? 2 : sizeof(Accumulator);
  for (int row = 0; row < shape.m; ++row) {
    Wide sum[kN] = {};
    for (int k = 0; k < shape.k; ++k)
      for (int n = 0; n < kN; ++n) sum[n] += a[row][k] * b[k][n];
    for (int n = 0; n < kN; ++n) {
      int lane = row % 8 * 4 + n / 2;
      add<Accumulator>(static_cast<char*>(d[lane]) + (row / 8 * 2 + n % 2) * bytes, sum[n]);
    }
  }
}

template <int kBits>
using Bits = std::integral_constant<int, kBits>;

// Calls use(Bits<width>, get) for the elements of an operand.
template <class Use>
void with_float_operand(tw_mma_type type, Use use) {
  switch (type) {
    case kTwMmaF16:
      return use(Bits<16>{}, [](const void* x, int i) {
        return static_cast<double>(widen_f16(element<uint16_t>(x, i)));
      });
    case kTwMmaBf16:
      return use(Bits<16>{}, [](const void* x, int i) {
        auto bits = static_cast<uint32_t>(element<uint16_t>(x, i)) << 16;
        return static_cast<double>(std::bit_cast<float>(bits));
      });
    case kTwMmaTf32:
      return use(Bits<32>{},
                 [](const void* x, int i) { return static_cast<double>(element<float>(x, i)); });
    case kTwMmaE4m3:
      return use(Bits<8>{}, [](const void* x, int i) {
        return static_cast<double>(widen_f8<Dtype::kF8E4M3>(element<uint8_t>(x, i)));
      });
    case kTwMmaE5m2:
      return use(Bits<8>{}, [](const void* x, int i) {
        return static_cast<double>(widen_f8<Dtype::kF8E5M2>(element<uint8_t>(x, i)));
      });
    case kTwMmaF64:
      return use(Bits<64>{}, [](const void* x, int i) { return element<double>(x, i); });
    case kTwMmaE2m1:
      return use(Bits<4>{}, [](const void* x, int i) {
        constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
        auto bits = nibble<false>(x, i);
        return bits & 8 ? -kValues[bits & 7] : kValues[bits];
      });
    default:
      TW_UNREACHABLE("integer operand of a float multiplication");
  }
}

template <class Use>
void with_integer_operand(tw_mma_type type, Use use) {
  switch (type) {
    case kTwMmaI8:
      return use(Bits<8>{}, [](const void* x, int i) { return int64_t{element<int8_t>(x, i)}; });
    case kTwMmaU8:
      return use(Bits<8>{}, [](const void* x, int i) { return int64_t{element<uint8_t>(x, i)}; });
    case kTwMmaI4:
      return use(Bits<4>{}, nibble<true>);
    case kTwMmaU4:
      return use(Bits<4>{}, nibble<false>);
    default:
      TW_UNREACHABLE("float operand of an integer multiplication");
  }
}

// The registers of A and B have `a_columns` and shape.k columns.
bool all_tf32(const MatrixProduct& product, int a_columns) {
  const tw_mma_shape& shape = product.shape;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < shape.m * a_columns / kWarpSize; ++i)
      if (!is_tf32(element<float>(product.a[lane], i))) return false;
    for (int i = 0; i < shape.n * shape.k / kWarpSize; ++i)
      if (!is_tf32(element<float>(product.b[lane], i))) return false;
  }
  return true;
}

// ---- sparse: of each chunk of four columns two are stored (of TF32, one of two)
// ---------------------------------------------------------------------------------
// A chunk has four bits of metadata: two indices of two bits. TF32 elements count as two halves.
// Four threads with the same g = lane / 4 hold those of rows g and g + 8; of wide elements a word
// has 16 bits for four chunks of each row, of bytes 32 bits for eight chunks of one row.
class Metadata {
 public:
  explicit Metadata(const MatrixProduct& product)
      : product_(product),
        is_tf32_(product.shape.a == kTwMmaTf32),
        is_wide_(is_tf32_ || product.shape.a == kTwMmaF16 || product.shape.a == kTwMmaBf16),
        chunk_columns_(is_tf32_ ? 2 : 4),
        chunks_(product.shape.k / chunk_columns_),
        threads_(chunks_ / 4) {}

  // Puts stored columns where they belong. Gives what is wrong, or "".
  template <class Wide>
  std::string expand(Wide (&a)[kMaxM][kMaxK]) const {
    if (product_.selector < 0 || product_.selector * threads_ >= 4)
      return "the sparsity selector " + std::to_string(product_.selector) +
             " names threads that do not exist";
    for (int row = 0; row < product_.shape.m; ++row) {
      Wide packed[kMaxK];
      std::copy_n(a[row], kMaxK / 2, packed);
      std::fill_n(a[row], kMaxK, Wide{});
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        uint32_t bits = chunk_bits(row, chunk), low = bits & 3, high = bits >> 2;
        if (low >= high || (is_tf32_ && bits != 0b0100 && bits != 0b1110))
          return "the metadata " + std::to_string(bits) + " of row " + std::to_string(row) +
                 ", chunk " + std::to_string(chunk) + " is not one of those defined";
        Wide* to = a[row] + chunk * chunk_columns_;
        if (is_tf32_) {
          to[low / 2] = packed[chunk];
        } else {
          to[low] = packed[2 * chunk];
          to[high] = packed[2 * chunk + 1];
        }
      }
    }
    return {};
  }

 private:
  uint32_t chunk_bits(int row, int chunk) const {
    int thread = is_wide_ ? chunk / 4 : chunk / 8 * 2 + row / 8;
    int shift = is_wide_ ? row / 8 * 16 + chunk % 4 * 4 : chunk % 8 * 4;
    int lane = row % 8 * 4 + product_.selector * threads_ + thread;
    return product_.metadata[static_cast<size_t>(lane)] >> shift & 15;
  }

  const MatrixProduct& product_;
  bool is_tf32_, is_wide_;
  int chunk_columns_, chunks_, threads_;
};

// ---- block-scaled: runs of k have a factor
// -----------------------------------------------------------------------
double scale_value(tw_mma_scale type, uint32_t word, int byte) {
  auto bits = static_cast<uint8_t>(word >> 8 * byte);
  if (type == kTwScaleUe4m3) return widen_f8<Dtype::kF8E4M3>(bits & 0x7f);
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

// Row g takes its factors from the first, row g + 8 from the second thread of the pair thread_a of
// four; column g from thread_b of four.
std::string apply_scales(const MatrixProduct& product, double (&a)[kMaxM][kMaxK],
                         double (&b)[kMaxK][kN]) {
  const tw_mma_scaling& scaling = *product.scaling;
  const tw_mma_shape& shape = product.shape;
  auto exists = [&](int byte, int thread, int threads) {
    return byte >= 0 && byte + scaling.count <= 4 && byte % scaling.count == 0 && thread >= 0 &&
           thread < threads;
  };
  if (!exists(scaling.byte_a, scaling.thread_a, 2) || !exists(scaling.byte_b, scaling.thread_b, 4))
    return "the scale selectors name bytes or threads that do not exist";
  const int run = shape.k / scaling.count;
  for (int row = 0; row < shape.m; ++row)
    for (int k = 0; k < shape.k; ++k) {
      int lane = row % 8 * 4 + scaling.thread_a * 2 + row / 8;
      a[row][k] *= scale_value(scaling.type, product.scale_a[static_cast<size_t>(lane)],
                               scaling.byte_a + k / run);
    }
  for (int column = 0; column < shape.n; ++column)
    for (int k = 0; k < shape.k; ++k)
      b[k][column] *= scale_value(
          scaling.type, product.scale_b[static_cast<size_t>(column * 4 + scaling.thread_b)],
          scaling.byte_b + k / run);
  return {};
}

}  // namespace

std::string multiply_accumulate(const MatrixProduct& product) {
  const tw_mma_shape& shape = product.shape;
  TW_CHECK((shape.m == 8 || shape.m == 16) && shape.n == kN && shape.k <= kMaxK, "mma shape");
  tw_mma_shape stored = shape;  // of A
  if (product.is_sparse) stored.k /= 2;
  if (shape.sum == kTwSumI32) {
    int64_t a[kMaxM][kMaxK], b[kMaxK][kN];
    with_integer_operand(shape.a,
                         [&](auto bits, auto get) { gather_a<bits>(stored, product.a, a, get); });
    with_integer_operand(shape.b,
                         [&](auto bits, auto get) { gather_b<bits>(shape, product.b, b, get); });
    std::string problem = product.is_sparse ? Metadata(product).expand(a) : std::string();
    if (problem.empty()) multiply<int64_t, int32_t>(shape, product.d, a, b);
    return problem;
  }
  if (shape.a == kTwMmaTf32 && !all_tf32(product, stored.k))
    return "an operand is not rounded to TF32, so its low bits are lost";
  double a[kMaxM][kMaxK], b[kMaxK][kN];
  with_float_operand(shape.a,
                     [&](auto bits, auto get) { gather_a<bits>(stored, product.a, a, get); });
  with_float_operand(shape.b,
                     [&](auto bits, auto get) { gather_b<bits>(shape, product.b, b, get); });
  std::string problem = product.is_sparse ? Metadata(product).expand(a) : std::string();
  if (problem.empty() && product.scaling) problem = apply_scales(product, a, b);
  if (!problem.empty()) return problem;
  if (shape.sum == kTwSumF64)
    multiply<double, double>(shape, product.d, a, b);
  else if (shape.sum == kTwSumF16)
    multiply<double, Half>(shape, product.d, a, b);
  else
    multiply<double, float>(shape, product.d, a, b);
  return {};
}

}  // namespace tilewright::cuda
