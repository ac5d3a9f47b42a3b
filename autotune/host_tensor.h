// A tensor in host memory, C order: the inputs and outputs of tuning trials and of the command
// line.
#pragma once

#include <cstdint>
#include <vector>

#include "dsl/base/dtype.h"

namespace tilewright::autotune {

struct HostTensor {
  Dtype dtype{};
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t count() const;
  double get(int64_t index) const;
  void set(int64_t index, double value);  // rounds to the dtype
};

// Every bit set: NaN in float formats, -1 or the largest value in integer formats.
HostTensor poisoned(Dtype dtype, std::vector<int64_t> shape);
HostTensor zeros(Dtype dtype, std::vector<int64_t> shape);
// Uniform in [-1, 1) for floats, -4 … 4 (0 … 8 unsigned) for integers; equal for equal seeds
// everywhere.
HostTensor random_uniform(Dtype dtype, std::vector<int64_t> shape, uint64_t seed);
// Normal with mean 0 and variance 1 (floats; integers as random_uniform).
HostTensor random_normal(Dtype dtype, std::vector<int64_t> shape, uint64_t seed);
// 0, 1, 2, … in C order.
HostTensor counting(Dtype dtype, std::vector<int64_t> shape);

// ‖a - b‖ / ‖b‖ over elements (Frobenius); 0 when they are equal, NaN when only one of two elements
// is.
double relative_error(const HostTensor& a, const HostTensor& b);

}  // namespace tilewright::autotune
