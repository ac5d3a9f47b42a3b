// A tensor in host memory for kernel tests: typed elements between two guard zones, so that a write
// outside shows, with values read and written as doubles through dsl/base/numeric.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dsl/base/dtype.h"
#include "dsl/base/numeric.h"

namespace tilewright::kernel_tests {

class Buffer {
 public:
  static constexpr size_t kGuardBytes = 256;
  static constexpr uint8_t kGuard = 0xa5;

  Buffer(Dtype dtype, int64_t count)
      : dtype_(dtype), count_(count), storage_(2 * kGuardBytes + bytes() + 15, kGuard) {
    auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kGuardBytes;
    offset_ = kGuardBytes + ((16 - address % 16) % 16);
    poison();
  }

  Dtype dtype() const { return dtype_; }
  int64_t count() const { return count_; }
  size_t bytes() const { return static_cast<size_t>(count_) * dtype_bytes(dtype_); }
  uint8_t* data() { return storage_.data() + offset_; }
  const uint8_t* data() const { return storage_.data() + offset_; }

  // Everything, guard zones included, and where the elements begin in it.
  std::vector<uint8_t>& storage() { return storage_; }
  size_t offset() const { return offset_; }

  // All bits set: NaN in every float format, so that an element nobody wrote cannot pass.
  void poison() { std::memset(data(), 0xff, bytes()); }
  void zero() { std::memset(data(), 0, bytes()); }

  uint64_t bits(int64_t i) const {
    uint64_t value = 0;
    std::memcpy(&value, data() + i * dtype_bytes(dtype_), dtype_bytes(dtype_));
    return value;
  }
  double get(int64_t i) const {
    return is_float(dtype_) ? bits_to_float(bits(i), dtype_)
                            : static_cast<double>(bits_to_int(bits(i), dtype_));
  }
  void set(int64_t i, double value) {
    uint64_t bits =
        is_float(dtype_) ? float_to_bits(value, dtype_) : float_to_int_bits(value, dtype_);
    std::memcpy(data() + i * dtype_bytes(dtype_), &bits, dtype_bytes(dtype_));
  }
  void set_bits(int64_t i, uint64_t bits) {
    std::memcpy(data() + i * dtype_bytes(dtype_), &bits, dtype_bytes(dtype_));
  }
  bool guards_intact() const {
    for (size_t i = 0; i < storage_.size(); ++i)
      if ((i < offset_ || i >= offset_ + bytes()) && storage_[i] != kGuard) return false;
    return true;
  }

 private:
  Dtype dtype_;
  int64_t count_;
  std::vector<uint8_t> storage_;
  size_t offset_ = 0;
};

// Deterministic random numbers (splitmix64), the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * (next() >> 11) * 0x1.0p-53;
  }
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

}  // namespace tilewright::kernel_tests
