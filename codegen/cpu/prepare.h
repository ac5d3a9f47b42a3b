// Rewrites of the tile IR that only pay on a CPU, done on a private copy before emission.
#pragma once

#include "codegen/ir/module.h"

namespace tilewright::cpu {

// Carried tiles that only move by a uniform amount become a base outside of the loop and a scalar
// inside. A pointer tile would otherwise be written and read back in every iteration, and its
// regular structure (contiguous along a dimension) would be lost in memory:
//
//   %r = for … %ptrs region(%i, %p) {            %z = const 0: i64
//     … load %p …                                %r' = for … %z region(%i, %d) {
//     %s = splat %step                             %ds = splat %d
//     %n = ptr_add %p, %s               =>         %p = ptr_add %ptrs, %ds
//     yield %n }                                   … load %p …
//                                                  %n = add %d, cast %step
//                                                  yield %n }
// and likewise for integer tiles moved by add.
void scalarize_induction(ir::Module& module);

}  // namespace tilewright::cpu
