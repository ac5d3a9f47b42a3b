// Tensor-core instructions over the 32 lanes of a warp, from the fragment definitions of the PTX
// ISA ("Matrix Fragments for mma", "ldmatrix"). Deliberately shares nothing with codegen/layout,
// which plans these fragments: each checks the other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "codegen/cuda/prelude/host_abi.h"

namespace tilewright::cuda {

constexpr int kWarpSize = 32;

// The registers of each lane.
template <class T>
using Lanes = std::span<T* const, kWarpSize>;

// A multiplication's operands. Of the two kinds beyond the plain one: in a sparse one A holds the
// columns that `metadata` names; in a block-scaled one runs of A's rows and B's columns have
// factors.
struct MatrixProduct {
  const tw_mma_shape& shape;
  Lanes<void> d;
  Lanes<const void> a, b;
  bool is_sparse = false;
  int selector = 0;                         // sparse: whose metadata counts
  const tw_mma_scaling* scaling = nullptr;  // not null: block-scaled
  std::array<uint32_t, kWarpSize> metadata{}, scale_a{}, scale_b{};  // of each lane
};

// d += a * b. Floats: exact products, summed in double and rounded once to the accumulator's type.
// Gives what is wrong with the operands, or "": bits that TF32 has not and hardware would cut off,
// metadata or selectors that mean nothing.
std::string multiply_accumulate(const MatrixProduct& product);

}  // namespace tilewright::cuda
