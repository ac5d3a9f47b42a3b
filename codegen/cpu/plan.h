// What is computed where: which tile values are written to buffers, and where the buffers lie.
//
// Pure tile values are functions of the element index. Most are lazy: whoever consumes them
// computes the elements it needs, inside its own loop (a chain of element-wise ops becomes one
// loop, and index arithmetic stays in registers). A value gets a buffer when it cannot be
// recomputed (loads, products, reductions, carried values) or when recomputing would cost more than
// a round trip through memory. A *sink* of a value is an op that, when it runs, evaluates the
// value's elements.
//
// Buffers are byte ranges of one arena per program instance, 64-byte aligned; ranges are shared by
// values that do not live at the same time. A loop's carried value, its initial value and the next
// value share one buffer where the reads allow it, so that an accumulator is updated in place.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::cpu {

constexpr int64_t kNoBuffer = -1;

// The register block of a matrix product: `rows` x `cols` accumulators, vectors of `lanes`.
struct DotBlocking {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int rows = 1, cols = 1, lanes = 1, unroll = 1;
  Dtype compute = Dtype::kF32;  // type of packed operands and of the sum
  int64_t a_bytes() const { return m * k * dtype_bytes(compute); }
  int64_t b_bytes() const { return k * n * dtype_bytes(compute); }
};
DotBlocking dot_blocking(const ir::Module& module, const ir::OpNode& dot, int vector_bytes);

struct Plan {
  enum class How : uint8_t { kDead, kScalar, kLazy, kBuffer };

  // How a yielded tile reaches the buffer of its carried value: it is there already, is written
  // there, or by way of scratch because other yielded values still read the buffer.
  enum class Pass : uint8_t { kInPlace, kDirect, kStaged };

  std::vector<How> how;                   // by value
  std::vector<int64_t> buffer;            // by value: offset in the arena, or kNoBuffer
  std::vector<int64_t> scratch;           // by op: packed operands of dot, staging of yield
  std::vector<std::vector<Pass>> passes;  // by op: for each operand of a for's yield
  // By store: loads that only it reads and that may be done inside its loop, if at run time their
  // memory proves not to overlap what it writes. They have buffers for when it does.
  std::vector<std::vector<ir::ValueId>> deferred;
  std::vector<bool> is_deferred;  // by value
  int64_t arena_bytes = 0;

  How of(ir::ValueId id) const { return how[id.index]; }
  bool is_buffer(ir::ValueId id) const { return of(id) == How::kBuffer; }
};

Plan make_plan(const ir::Module& module, int vector_bytes);

constexpr int64_t align_up(int64_t bytes) {
  return (bytes + 63) & ~int64_t{63};
}

}  // namespace tilewright::cpu
