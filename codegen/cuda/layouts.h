// Which register layout every tile value has in the CUDA backend, and how each dot is computed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/units.h"
#include "codegen/ir/module.h"
#include "codegen/layout/conversion.h"
#include "codegen/layout/linear_layout.h"
#include "codegen/layout/mma.h"
#include "codegen/layout/shared_layout.h"
#include "codegen/target/target.h"

namespace tilewright::cuda {

// How one dot op is computed. kMma: operands are cast to the types of `unit` and converted to
// operand_a / operand_b, the accumulator and the result have layout `accumulator`. kFma: result
// element by element with f32 (or the type's) multiply-adds; the accumulator and the result have
// layout `accumulator` (any blocked one), the operands are read from shared memory, where they lie
// row-major.
struct DotPlan {
  enum class Kind : uint8_t { kMma, kFma };
  Kind kind = Kind::kFma;
  Unit unit;
  layout::MmaTiling tiling;
  layout::LinearLayout operand_a, operand_b, accumulator;
  // Of operands 3 and 4: the metadata of a sparse A; the scales of A and B. Else no bases.
  layout::LinearLayout sides[2];
};

struct LayoutAssignment {
  int warps = 4;
  // By value index; scalars have an empty shape. Values of ops that were removed have no bases.
  std::vector<layout::LinearLayout> values;
  std::map<ir::OpId, DotPlan> dots;
  // The layout in which a memory op (load, store, atomics) runs: all its operands and its result.
  std::map<ir::OpId, layout::LinearLayout> memory;
  // Elements a load or store may move as one vector (1, 2, 4, 8, 16), by op: so many consecutive
  // registers of its layout, from a register number divisible by it, hold consecutive addresses,
  // aligned to the vector, under one mask value.
  std::map<ir::OpId, int> vectors;
  // Registers of loads whose addresses follow one another, aligned or not: vectors and more.
  std::map<ir::OpId, int> runs;
  // Where the elements of a slot lie, by buffer: for the copies into it and its most important
  // reader. A shared_load's result has the layout it is read in, also where it is read lazily: by
  // the dots that are its only users (emit_buffers.h).
  std::map<ir::ValueId, layout::SharedLayout> buffers;
  std::set<ir::OpId> lazy_loads;
};

// Prepares a module for assignment: pure cheap ops (const, arange, splat, expand_dims, broadcast
// and integer arithmetic on them) that several users want in different layouts get one copy a
// layout. Then assigns. Rules for how ops tie layouts together:
//   element-wise    all operands and the result share the result's layout
//   for/while/if    init, region argument, yield and result of a carried value share one layout
//   reduce          the operands share the layout of operand 0; the result has drop_dim of it
//   scan            operands and results have scan_layout of the result's: itself, as a rule
//   gather          the index has the result's layout, src any
//   histogram       x and mask share a layout, the result may have any
//   expand_dims, permute, reshape, join, cat   the result follows from the operand by the functions
//                   of linear_layout.h
//   split           the operand has join(result's layout)
//   broadcast       the operand has broadcast_source(result's layout, its shape)
//   dot             see DotPlan
//   memory          see LayoutAssignment::memory
//   shared_load     any layout; what feeds dots is read in the layouts they ask for, once for each
//   shared_store    any layout
Result<LayoutAssignment> assign_layouts(ir::Module& module, const Target& target);

// The layout that `op` needs its operand number `index` in, by the rules above. Where it differs
// from the layout of the value, the emitter converts at the use (layout::plan_conversion). Operands
// of kFma dots have no required layout: the value's own is returned.
layout::LinearLayout required_layout(const ir::Module& module, const LayoutAssignment& assignment,
                                     ir::OpId op, int index);

// One line a value: name, type, layout; dots, vectors and conversions (inside loops marked). For
// tests and dumps.
std::string to_string(const ir::Module& module, const LayoutAssignment& assignment);

}  // namespace tilewright::cuda
