// Element-wise ops on 16-bit values two at a time.
#pragma once

#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {

// Emits the op on pairs of neighbouring registers, if there is a form for pairs and it pays. False:
// nothing was emitted.
bool emit_in_pairs(Emitter& e, ir::OpId id);

}  // namespace tilewright::cuda
