// Which tensor-core instruction computes a dot of given types on a target, and what is done to the
// operands for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/ir/module.h"
#include "codegen/layout/mma.h"
#include "codegen/target/target.h"
#include "dsl/base/dtype.h"

namespace tilewright::cuda {

// The types and extents of a dot op, and its attributes.
struct DotTypes {
  Dtype a{}, b{}, sum{};
  int64_t k = 0;  // of b: elements (pairs, of nibbles)
  bool nibbles = false;
  Dtype places{};  // of a sparse a's values
  bool sparse = false;
  Dtype scales{};  // of a block-scaled product
  bool scaled = false;
  std::string_view precision = "tf32";  // of f32 operands
  int64_t max_imprecise = 0;            // of fp8 operands; 0: no limit
};

// How a dot runs on a tensor core. Operands lie in shared memory as `a` and `b`, with fragments as
// of `instruction`, which counts k in elements of that type. With 2 or 3 products each word of a
// fragment is then taken apart into itself and a rest (tw_split_<name>), each as large:
//   2  halves: two bytes become two f16, four nibbles become four bytes; since the order of the sum
//      is free, first halves meet first halves: a·b + a'·b'
//   3  TF32 and what it leaves of an f32: a'·b + a·b' + a·b
struct Unit {
  layout::MmaShape instruction;
  Dtype a{}, b{};       // operands of other types are cast to these
  Dtype sum{};          // of the accumulator in the unit; results of other types are cast
  int products = 1;     // calls of `function` a fragment
  bool sparse = false;  // a holds half of the instruction's columns
  int scales = 0;       // of each row of a and column of b, of an instruction; 0: no scales
  std::string split_a, split_b;  // names for tw_split_, if more than one
  std::string function;          // tw_mma_…
  // Sums of so many k tiles are added up apart from the accumulator, then to it; 0: none are.
  int promote = 0;

  int element_bits() const { return dtype_bits(a); }
};

DotTypes dot_types(const ir::Module& module, const ir::OpNode& dot);
// nullopt where the target has none: multiply-adds do it.
std::optional<Unit> find_unit(const Target& target, const DotTypes& dot);

}  // namespace tilewright::cuda
