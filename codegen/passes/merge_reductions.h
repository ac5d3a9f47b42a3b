#pragma once

#include "codegen/ir/module.h"

namespace tilewright::passes {

// Independent reductions along the same axis of tiles of one shape become one with more operands,
// whose threads exchange partial results once:
//
//   %a: f32 = reduce %x {axis=0} …              %a: f32, %b: f32 = reduce %x, %y {axis=0}
//   %c: f32 = mul %a, %n                   ->       region(%x0: f32, %y0: f32, %x1: f32, %y1: f32)
//   … %b: f32 = reduce %y {axis=0} …              %c: f32 = mul %a, %n
//
// Not in the pipeline: the CUDA backend calls it. Returns whether anything changed.
bool merge_reductions(ir::Module& module);

}  // namespace tilewright::passes
