// How a compiled kernel is started on the host-side executors (interpreter, CPU, emulated CUDA).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tilewright {

// Arguments are 64-bit slots in parameter order (only the run-time parameters of the specialised
// kernel): integers and floats by their bits in the low bytes, pointers as host addresses.
struct Launch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::span<const uint64_t> arguments;
};

}  // namespace tilewright
