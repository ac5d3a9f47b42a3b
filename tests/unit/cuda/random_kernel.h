// Random kernels whose results do not depend on any order: loads from buffers that nothing writes,
// exact operations, reductions and products whose sums are exact, and every result stored once, to
// a place of its own. So the interpreter, the emulator and a GPU must agree to the bit (NaNs
// aside).
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::cuda {

// Parameters: for each dtype of kKernelDtypes an input pointer to kInputElements, then for each an
// output pointer to kOutputElements, then an i32 between 0 and 7.
inline constexpr Dtype kKernelDtypes[] = {Dtype::kI1,     Dtype::kI8,     Dtype::kI16, Dtype::kI32,
                                          Dtype::kI64,    Dtype::kU8,     Dtype::kU32, Dtype::kU64,
                                          Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF16, Dtype::kBF16,
                                          Dtype::kF32,    Dtype::kF64};
inline constexpr int kInputElements = 4096, kOutputElements = 1 << 16;

struct RandomKernelOptions {
  int statements = 25;
  int warps = 4;
  bool dots = true;
};
ir::Module random_kernel(uint64_t seed, const RandomKernelOptions& options);

}  // namespace tilewright::cuda
