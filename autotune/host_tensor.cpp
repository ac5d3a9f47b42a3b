#include "autotune/host_tensor.h"

#include <cmath>
#include <cstring>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::autotune {
namespace {

// splitmix64 (Steele et al., "Fast splittable pseudorandom number generators", OOPSLA'14).
uint64_t next(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double unit(uint64_t& state) {
  return static_cast<double>(next(state) >> 11) * 0x1.0p-53;
}

HostTensor filled(Dtype dtype, std::vector<int64_t> shape, uint8_t byte) {
  HostTensor tensor{dtype, std::move(shape), {}};
  TW_CHECK(tensor.count() >= 0, "negative extent");
  tensor.bytes.assign(static_cast<size_t>(tensor.count()) * dtype_bytes(dtype), byte);
  return tensor;
}

template <class Draw>
HostTensor drawn(Dtype dtype, std::vector<int64_t> shape, uint64_t seed, Draw draw) {
  HostTensor tensor = filled(dtype, std::move(shape), 0);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0, n = tensor.count(); i < n; ++i) {
    if (is_float(dtype))
      tensor.set(i, draw(state));
    else
      tensor.set(i, static_cast<double>(next(state) % 9) - (is_signed(dtype) ? 4 : 0));
  }
  return tensor;
}

}  // namespace

int64_t HostTensor::count() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

double HostTensor::get(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * dtype_bytes(dtype), dtype_bytes(dtype));
  return is_float(dtype) ? bits_to_float(bits, dtype)
                         : static_cast<double>(bits_to_int(bits, dtype));
}

void HostTensor::set(int64_t index, double value) {
  uint64_t bits = is_float(dtype) ? float_to_bits(value, dtype) : float_to_int_bits(value, dtype);
  std::memcpy(bytes.data() + index * dtype_bytes(dtype), &bits, dtype_bytes(dtype));
}

HostTensor poisoned(Dtype dtype, std::vector<int64_t> shape) {
  return filled(dtype, std::move(shape), 0xff);
}
HostTensor zeros(Dtype dtype, std::vector<int64_t> shape) {
  return filled(dtype, std::move(shape), 0);
}

HostTensor random_uniform(Dtype dtype, std::vector<int64_t> shape, uint64_t seed) {
  return drawn(dtype, std::move(shape), seed, [](uint64_t& state) { return 2 * unit(state) - 1; });
}

HostTensor random_normal(Dtype dtype, std::vector<int64_t> shape, uint64_t seed) {
  return drawn(dtype, std::move(shape), seed, [](uint64_t& state) {  // Box and Muller
    double radius = std::sqrt(-2 * std::log(1 - unit(state)));
    return radius * std::cos(6.283185307179586 * unit(state));
  });
}

HostTensor counting(Dtype dtype, std::vector<int64_t> shape) {
  HostTensor tensor = filled(dtype, std::move(shape), 0);
  for (int64_t i = 0, n = tensor.count(); i < n; ++i) tensor.set(i, static_cast<double>(i));
  return tensor;
}

double relative_error(const HostTensor& a, const HostTensor& b) {
  TW_CHECK(a.count() == b.count(), "tensors of different sizes are compared");
  double difference = 0, norm = 0;
  for (int64_t i = 0, n = a.count(); i < n; ++i) {
    double x = a.get(i), y = b.get(i);
    if (std::isnan(x) != std::isnan(y)) return NAN;
    if (x == y || std::isnan(x)) {
      norm += std::isfinite(y) ? y * y : 0;
      continue;
    }
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  if (difference == 0) return 0;
  return std::sqrt(difference) / std::sqrt(std::fmax(norm, 1e-300));
}

}  // namespace tilewright::autotune
