// How many blocks of a kernel should share an SM: the bound that is given to ptxas, which otherwise
// uses registers as if each block had the SM to itself.
#pragma once

#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

// Kernels with dots get 1: their accumulators need the registers. The speed of others is that of
// memory, which wants many warps: as many as have room for the values that must be held at once,
// that is across reductions, loops, branches and exchanges. What lives between two of these is
// loaded, combined and stored a few registers at a time.
int wanted_blocks(const ir::Module& module, const LayoutAssignment& assignment,
                  const Target& target);

}  // namespace tilewright::cuda
