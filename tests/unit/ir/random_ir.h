// Random well-typed modules: every op of the table, structured control flow, memory in buffers that
// the caller owns. A module is a function of its seed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::ir {

// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // 0 … bound-1.
  int below(int bound) { return static_cast<int>(next() % static_cast<uint64_t>(bound)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

// Elements of each buffer; all accesses stay within.
inline constexpr int kBufferElements = 64;

// The kernel's parameters are a pointer for every dtype, in the order of the enumeration, to
// kBufferElements elements each, then an i32, an i64, an f32 and an i1.
// Arithmetic never looks at the bits of a NaN, and loops end.
Module random_module(uint64_t seed, int statements);

// A random element of a dtype, edge cases preferred.
uint64_t random_bits(Random& random, Dtype dtype);

}  // namespace tilewright::ir
