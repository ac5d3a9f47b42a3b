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

// Elements of each buffer; all accesses stay within. Random accesses go to the first part;
// random_expressions stores each value to a place of its own in the second.
inline constexpr int kRandomElements = 64;
inline constexpr int kBufferElements = kRandomElements + 16 * 32;

// The kernel's parameters are a pointer for every dtype, in the order of the enumeration, to
// kBufferElements elements each, then an i32, an i64, an f32 and an i1.
// Arithmetic never looks at the bits of a NaN, and loops end.
Module random_module(uint64_t seed, int statements);

// The same parameters. A dozen ops on values of a few types, half of the operands neutral or
// extreme constants, every value stored: what local rewrites look for, on 32 elements at once.
Module random_expressions(uint64_t seed);

// A random element of a dtype, edge cases preferred.
uint64_t random_bits(Random& random, Dtype dtype);

}  // namespace tilewright::ir
