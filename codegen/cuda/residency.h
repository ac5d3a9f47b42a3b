// How many blocks of a kernel should share an SM: the bound that is given to ptxas, which otherwise
// uses registers as if each block had the SM to itself.
#pragma once

#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

// Kernels without dots run at the speed of memory, which wants many warps: as many as have room for
// the values that must be held at once, that is across reductions, loops, branches and exchanges.
// What lives between two of these is loaded, combined and stored a few registers at a time.
//
// Kernels with one dot a loop get 1: their accumulators need the registers, and their loop keeps
// the tensor cores busy by itself. Where a loop holds several, what is computed between them
// (attention's softmax) takes as long as they do, and warps of another block are what overlaps with
// it. They get as many blocks as have room for accumulators and for operands kept in registers.
int wanted_blocks(const ir::Module& module, const LayoutAssignment& assignment,
                  const Target& target, int64_t shared_bytes);

}  // namespace tilewright::cuda
