#pragma once

#include "codegen/ir/module.h"

namespace tilewright::passes {

// Atomics whose old values nobody wants, many of them on one address, combine their values first:
//
//   %p: tile<16x64xptr<f32>> = broadcast %q: tile<16x1…>    %s: tile<16xf32> = reduce %v {axis=1}
//   (add) atomic_rmw %p, %v {op=add}                           ->  %t: tile<16x1xf32> = expand_dims
//   %s
//                                                            atomic_rmw %q, %t {op=add}
//
// For additions, and integers otherwise; masked-off values become the neutral one, and addresses
// none of whose values count are left alone. Not in the pipeline: the CUDA backend calls it.
// Returns whether anything changed.
bool combine_atomics(ir::Module& module);

}  // namespace tilewright::passes
