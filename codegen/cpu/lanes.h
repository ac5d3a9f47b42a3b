// A few elements of a tile at once: which ones (Index) and what they are (Lanes).
//
// Tiles are computed in chunks of `width` elements, width a power of two. An Index says which
// element each lane stands for: along every dimension, lane i is at base + offset[i]. All extents
// are powers of two and base and offsets never share a bit, so reshapes, which move index bits,
// work on the two parts separately and keep that form.
//
// Lanes is the value of one tile at one Index. It is uniform (one scalar for all lanes), affine (a
// scalar plus constant offsets: what makes an access contiguous is then known at compile time) or
// a vector.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::cpu {

// A 64-bit index: a constant, or the name of an LLVM value.
struct I64 {
  int64_t constant = 0;
  std::string name;  // empty for constants

  bool is_constant() const { return name.empty(); }
  bool is_zero() const { return name.empty() && constant == 0; }
  std::string text() const { return name.empty() ? std::to_string(constant) : name; }
};

struct DimIndex {
  I64 base;
  std::vector<int64_t> offsets;  // one a lane; empty when all are 0

  int64_t offset(size_t lane) const { return offsets.empty() ? 0 : offsets[lane]; }
};

struct Index {
  int width = 1;
  std::vector<DimIndex> dims;
};

struct ExactLanes;

struct Lanes {
  std::string scalar;            // the uniform value, or the base of an affine one
  std::string vector;            // a vector
  std::vector<int64_t> offsets;  // affine: lane i is scalar + offsets[i], bytes for pointers
  // Set where the affine form was reached by extending narrower numbers: it then holds unless
  // 32-bit arithmetic wraps inside the chunk, and only addresses of memory accesses rely on it.
  // Everything else applies the op to the exact lanes of its operands.
  std::shared_ptr<const ExactLanes> exact;

  static Lanes uniform(std::string value) { return {std::move(value), {}, {}, {}}; }
  static Lanes of_vector(std::string value) { return {{}, std::move(value), {}, {}}; }

  bool is_uniform() const { return !scalar.empty() && offsets.empty(); }
  bool is_affine() const { return !scalar.empty() && !offsets.empty(); }
  bool has_affine_form() const { return !scalar.empty(); }
};

struct ExactLanes {
  const ir::OpNode& op;
  std::vector<Lanes> operands;
};

// How an element is held in a register: i1, i8 … i64, float, double, ptr. f16, bf16 and fp8 are
// held as their bits and widened to float for arithmetic.
std::string register_type(const ir::Type& type);
// The same for memory and buffers, where i1 is a byte.
std::string memory_type(const ir::Type& type);

}  // namespace tilewright::cpu
