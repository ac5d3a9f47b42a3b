// Dots computed as the transpose of the product of the transposed operands.
#pragma once

#include <set>

#include "codegen/ir/module.h"

namespace tilewright::passes {

//   dot %a, %b, %acc  ->  transpose (dot (transpose %b), (transpose %a), (transpose %acc))
//
// for each of `dots`. Its operands take each other's part in a tensor-core instruction, and nothing
// moves: a transpose is another name for the same registers.
void transpose_dots(ir::Module& module, const std::set<ir::OpId>& dots);

}  // namespace tilewright::passes
