// Kernels of one loop with random bounds, addresses, masks and dots, as text of the tile IR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::schedule {

struct RandomLoop {
  std::string text;
  // Its parameters: a, b (f16), w (i8), idx (i32), s, log, out (f32), then lo, hi, step and n.
  int64_t lo = 0, hi = 0, step = 1, n = 0;
};

// Element counts of the buffers, in the order of the parameters.
inline constexpr int kRows = 16, kDepth = 8, kColumns = 16;
inline constexpr int kIterations = 64;  // the index stays within -32 … 31
inline constexpr int kPitch = kIterations * kDepth;
inline constexpr int kBufferElements = kRows * kPitch;

RandomLoop random_loop(uint64_t seed);

}  // namespace tilewright::schedule
