// Runs IR text on the interpreter and on the CPU backend and compares all memory afterwards.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/cpu/cpu.h"
#include "codegen/interp/interp.h"
#include "codegen/ir/module.h"
#include "dsl/base/numeric.h"

namespace tilewright::cpu {

// An array argument: element images as they lie in memory.
class Array {
 public:
  Array(Dtype dtype, const std::vector<uint64_t>& bits) : dtype_(dtype), count_(bits.size()) {
    bytes_.resize(count_ * stride());
    for (size_t i = 0; i < count_; ++i) std::memcpy(&bytes_[i * stride()], &bits[i], stride());
  }
  static Array of(Dtype dtype, const std::vector<double>& values) {
    std::vector<uint64_t> bits;
    for (double v : values)
      bits.push_back(is_float(dtype) ? float_to_bits(v, dtype)
                                     : int_to_bits(static_cast<int64_t>(v), dtype));
    return {dtype, bits};
  }
  static Array zeros(Dtype dtype, size_t count) { return {dtype, std::vector<uint64_t>(count)}; }

  Dtype dtype() const { return dtype_; }
  size_t size() const { return count_; }
  size_t stride() const { return static_cast<size_t>(dtype_bytes(dtype_)); }
  void* data() { return bytes_.data(); }
  uint64_t bits(size_t i) const {
    uint64_t out = 0;
    std::memcpy(&out, &bytes_[i * stride()], stride());
    return out;
  }
  double value(size_t i) const {
    return is_float(dtype_) ? bits_to_float(bits(i), dtype_)
                            : static_cast<double>(bits_to_int(bits(i), dtype_));
  }

 private:
  Dtype dtype_;
  size_t count_;
  std::vector<unsigned char> bytes_;
};

// Pseudo-random bits, the same in every run.
class Random {
 public:
  explicit Random(uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  // An integer in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

struct Arguments {
  std::vector<Array> arrays;      // the kernel's first parameters
  std::vector<uint64_t> scalars;  // the others, by their bits
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::vector<std::string> labels;  // of arrays, for messages; may be shorter
  std::vector<double> tolerances;   // of arrays, in units in the last place; missing ones are 0
};

inline Launch launch_of(Arguments& arguments, std::vector<uint64_t>& slots) {
  slots.clear();
  for (Array& array : arguments.arrays) slots.push_back(reinterpret_cast<uint64_t>(array.data()));
  slots.insert(slots.end(), arguments.scalars.begin(), arguments.scalars.end());
  return {arguments.grid, slots};
}

inline ir::Module parse_ir(const std::string& text) {
  auto module = ir::parse("test.ir", text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().text());
  Status verified = ir::verify(*module);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : verified.error().text());
  return std::move(module).value();
}

// Units in the last place of the format between two values; 0 for equal bits and for two NaNs.
inline double distance(uint64_t a, uint64_t b, Dtype dtype) {
  if (a == b) return 0;
  if (!is_float(dtype)) return INFINITY;
  double x = bits_to_float(a, dtype), y = bits_to_float(b, dtype);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (std::isnan(x) || std::isnan(y)) return INFINITY;
  auto ordered = [&](uint64_t bits) {
    uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
    return bits & sign ? -static_cast<double>(bits & (sign - 1)) : static_cast<double>(bits);
  };
  double steps = std::fabs(ordered(a) - ordered(b));
  return steps == 0 ? 0.5 : steps;  // zeros of two signs are not the same
}

// Without a tolerance, the same bits (any NaN for a NaN).
inline void expect_same(const Arguments& want, const Arguments& got, const std::string& what) {
  ASSERT_EQ(want.arrays.size(), got.arrays.size());
  for (size_t k = 0; k < want.arrays.size(); ++k) {
    const Array &a = want.arrays[k], &b = got.arrays[k];
    double tolerance = k < want.tolerances.size() ? want.tolerances[k] : 0;
    int shown = 0;
    for (size_t i = 0; i < a.size() && shown < 5; ++i) {
      if (distance(a.bits(i), b.bits(i), a.dtype()) <= tolerance) continue;
      ++shown;
      ADD_FAILURE() << what << ": " << (k < want.labels.size() ? want.labels[k] : "array") << " "
                    << k << " (" << dtype_name(a.dtype()) << ") element " << i << ": interpreter "
                    << a.value(i) << " (" << std::hex << a.bits(i) << "), CPU " << std::dec
                    << b.value(i) << " (" << std::hex << b.bits(i) << ")";
    }
  }
}

// The kernel on both; all arrays must agree afterwards.
inline void compare(const std::string& ir_text, const Arguments& arguments,
                    const std::string& what = "", const Options& options = {}) {
  ir::Module module = parse_ir(ir_text);
  Arguments want = arguments, got = arguments;
  std::vector<uint64_t> slots;
  Status interpreted = interp::run(module, launch_of(want, slots));
  ASSERT_TRUE(interpreted.ok()) << what << interpreted.error().text();
  auto kernel = compile(module, options);
  ASSERT_TRUE(kernel.ok()) << what << kernel.error().text() << "\n" << *emit_llvm(module, options);
  Status ran = (*kernel)->run(launch_of(got, slots), 2);
  ASSERT_TRUE(ran.ok()) << what << ran.error().text();
  expect_same(want, got, what);
}

}  // namespace tilewright::cpu
