// Tensor-core instructions over the 32 lanes of a warp, from the fragment definitions of the PTX
// ISA ("Matrix Fragments for mma", "ldmatrix"). Deliberately shares nothing with codegen/layout,
// which plans these fragments: each checks the other.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/cuda/prelude/host_abi.h"

namespace tilewright::cuda {

constexpr int kWarpSize = 32;

// The registers of each lane.
template <class T>
using Lanes = std::span<T* const, kWarpSize>;

// d += a * b. Floats: exact products, summed in double and rounded once to the accumulator's type.
// Gives false if a TF32 operand has bits that TF32 has not, which hardware would cut off.
bool multiply_accumulate(const tw_mma_shape& shape, Lanes<void> d, Lanes<const void> a,
                         Lanes<const void> b);

}  // namespace tilewright::cuda
