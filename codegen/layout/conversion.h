// How the values of a tile move from one register layout to another: by renaming registers, by warp
// shuffles, or through shared memory with a swizzle that avoids bank conflicts. Pure numbers: the
// emitter turns a plan into text, the tests simulate it.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/layout/linear_layout.h"

namespace tilewright::layout {

// One side of a trip through shared memory. A thread's base address is the XOR of lane[i] for the
// bits set in its lane number and warp[i] for those in its warp number; access k is at
// base ^ offsets[k] (all in bytes; the XOR never carries, and every address is aligned to the
// access). Access k moves the registers registers[k*vector … k*vector + vector-1].
struct SharedAccess {
  enum class Kind : uint8_t {
    // The thread moves `vector` consecutive elements (vector * element bytes is 1 to 16).
    kVector,
    // ldmatrix.m8n8.xN.b16, plain or .trans: the address a thread gives is that of one row of 16
    // bytes (lane bits 0-2 the row, 3-4 the matrix); it receives N words of vector/N elements, one
    // word a matrix, in the order of `registers`. Loads only; of 1- or 2-byte elements for .trans
    // (of the former two columns a lane), of 1 to 4 bytes else. x1 and x2 ignore the addresses of
    // higher lanes.
    kLdmatrix,
    kLdmatrixTrans,
  };
  Kind kind = Kind::kVector;
  int vector = 1;
  std::vector<int> registers;
  std::vector<uint32_t> offsets;
  std::vector<uint32_t> lane, warp;
  // Threads with any of these bits set in their lane or warp number hold copies: they need not take
  // part in a store (they would write the same value to the same place).
  uint32_t copy_lanes = 0, copy_warps = 0;

  int accesses() const { return static_cast<int>(offsets.size()); }
  // Of a matrix load: N.
  int matrices(int element_bytes) const { return vector * element_bytes / 4; }
};

struct Conversion {
  enum class Kind : uint8_t {
    kNone,       // same registers, nothing to do
    kRegisters,  // every thread holds what it needs
    kShuffles,   // within warps
    kShared,     // through shared memory
  };
  Kind kind = Kind::kNone;
  // Result register i is `source[i]`: a register of the operand (kRegisters), of the values
  // received by the shuffles (kShuffles, after the last exchange), or a loaded result register
  // (kShared: registers of the result that repeat another are loaded once). Always filled but for
  // kNone.
  std::vector<int> source;

  // kShuffles, in this order (thread = lane + 32 * warp, the thread's number in the block):
  //   1. for each exchange of `before`: threads whose number has odd parity under thread_mask
  //      swap the registers r and r ^ register_xor, for every r
  //   2. received[k] = shuffle of register source_register[k] from the lane
  //      image(thread) ^ lane_xor[k], where image(thread) = XOR of lane_columns[i] for bits i of
  //      the thread; where image is the own lane and lane_xor[k] is 0, no shuffle is needed
  //   3. for each exchange of `after`: the same on received[]
  // Of an exchange only the registers that later steps use need be computed: one select each.
  struct Exchange {
    uint32_t thread_mask = 0;
    uint32_t register_xor = 0;
  };
  struct Shuffles {
    std::vector<Exchange> before, after;
    std::vector<uint32_t> lane_columns;  // one for each thread bit; the first 5 are lane bits
    std::vector<int> source_register;
    std::vector<uint32_t> lane_xor;
    // image(thread) is the thread's own lane.
    bool stays_in_lane() const;
  };
  Shuffles shuffles;

  // kShared: for p in 0 … repeats-1: barrier (not needed before the very first use of the buffer);
  // the p-th of `repeats` equal runs of store accesses; barrier; the p-th run of load accesses. The
  // buffer has `bytes` bytes and is aligned to 16.
  struct Shared {
    SharedAccess store, load;
    int64_t bytes = 0;
    int repeats = 1;
  };
  Shared shared;
};

struct ConversionOptions {
  bool ldmatrix = false;  // the target has ldmatrix (2-byte elements)
  // Wanted limit of the buffer: the plan repeats over registers that both layouts have in common
  // until it fits; it may stay larger when there are not enough of them. 0 = no limit.
  int64_t max_shared_bytes = 0;
};

// For every register of a layout the first register that holds the same element.
std::vector<int> primary_registers(const LinearLayout& layout);

// Shapes and warps of both must be equal.
Conversion plan_conversion(const LinearLayout& from, const LinearLayout& to, int element_bytes,
                           const ConversionOptions& options = {});

// Shared-memory wavefronts (cycles of the 32 banks x 4 bytes) that one warp needs for all accesses
// of one side; `ideal` is what the bytes moved need at least. Counted by simulation.
struct Wavefronts {
  int64_t actual = 0, ideal = 0;
};
Wavefronts count_wavefronts(const SharedAccess& access, int element_bytes);

// Rough cycles of one warp, for comparing plans: selects, shuffles, wavefronts, barriers.
int64_t conversion_cost(const Conversion& conversion, int element_bytes);

}  // namespace tilewright::layout
