// Read-modify-writes of global memory, atomic among the blocks that run at the same time.
#pragma once

#include <cstdint>

#include "codegen/cuda/prelude/host_abi.h"

namespace tilewright::cuda {

uint32_t atomic_bytes(tw_atomic_type type);
// Values by their bits in the low bytes; gives the old value. Float sums are rounded once to the
// type.
uint64_t atomic_update(tw_atomic_op op, tw_atomic_type type, uint64_t address, uint64_t value,
                       uint64_t expected);

}  // namespace tilewright::cuda
