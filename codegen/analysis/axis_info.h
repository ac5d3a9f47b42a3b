// What is known about the integers and pointers of a tile along each of its dimensions: runs of
// consecutive values, runs of equal values, and powers of two that divide them. This decides how
// wide loads and stores may be (after Triton's axis analysis, with its unsound corners closed).
//
// Along dimension d, cut the tile into aligned blocks:
//   contiguity[d]    in each block of that length the values are v, v+1, v+2, … (pointers: one
//                    element further each)
//   divisibility[d]  divides the first value of every such block (pointers: the address in bytes)
//   constancy[d]     in each block of that length all values are equal
// All are powers of two; contiguity and constancy are at most the extent. A scalar counts as a tile
// with one dimension of extent 1. Loop-carried values: the meet over all iterations.
//
// Assumed, as Triton does: index arithmetic does not wrap around inside a run; a hint is true; a
// divisor that is not known is positive where the sign of a quotient matters.
#pragma once

#include <optional>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::analysis {

struct AxisInfo {
  std::vector<int64_t> contiguity, divisibility, constancy;
  std::optional<int64_t> constant;  // all elements have this value
  bool non_negative = false;        // no element is negative

  int rank() const { return static_cast<int>(contiguity.size()); }
  // A power of two that divides every element.
  int64_t element_divisor() const;
  // A power of two that divides the first value of every aligned block of `block` elements along d;
  // `unit` is the step of a run (1, or the pointee's bytes).
  int64_t divisor_at(int d, int64_t block, int64_t unit) const;
  friend bool operator==(const AxisInfo&, const AxisInfo&) = default;
};

// "contiguity=[1,64] divisibility=[16,16] constancy=[1,1]", then constant and sign where known.
std::string to_string(const AxisInfo& info);

// By value index. Values of unreachable ops have rank 0.
std::vector<AxisInfo> analyze_axes(const ir::Module& module);

// How many consecutive elements along `axis` a load, store or atomic may move as one access: the
// addresses are consecutive and aligned to it, the mask is one value, and it has at most 16 bytes.
int vector_width(const ir::Module& module, const std::vector<AxisInfo>& infos, ir::OpId op,
                 int axis);

}  // namespace tilewright::analysis
