// Which register layout every tile value has in the CUDA backend, and how each dot is computed.
#pragma once

#include <map>
#include <vector>

#include "codegen/ir/module.h"
#include "codegen/layout/linear_layout.h"
#include "codegen/target/target.h"

namespace tilewright::cuda {

// How one dot op is computed. kMma: operands are converted to operand_a / operand_b, the
// accumulator and the result have layout `accumulator`. kFma: result element by element with f32
// (or the type's) multiply-adds, operands read from shared memory.
struct DotPlan {
  enum class Kind : uint8_t { kMma, kFma };
  Kind kind = Kind::kFma;
  layout::MmaTiling tiling;
  Dtype operand_dtype{};  // what the unit multiplies (f16, bf16, tf32 as f32, i8, f8…)
  layout::LinearLayout operand_a, operand_b, accumulator;
};

struct LayoutAssignment {
  int warps = 4;
  // By value index; scalars have an empty shape. An operand whose layout differs from what its op
  // needs is converted by the emitter at the use (layout::plan_conversion).
  std::vector<layout::LinearLayout> values;
  std::map<ir::OpId, DotPlan> dots;
  // Elements a load or store may move as one vector (1, 2, 4, 8, 16), by op.
  std::map<ir::OpId, int> vectors;
};

// Element-wise ops: all operands and the result share the result's layout. Loop-carried values,
// init, yield and result of for/while/if share one layout. Reduce: operand layouts are free; the
// result has drop_dim of the first operand's. expand_dims/permute/reshape: result follows from the
// operand by the functions of linear_layout.h. broadcast: the operand is converted to
// broadcast_source.
Result<LayoutAssignment> assign_layouts(const ir::Module& module, const Target& target);

}  // namespace tilewright::cuda
