// Which operand of a dot a tensor-core instruction should take as its first one.
#pragma once

#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/ir/module.h"
#include "codegen/target/target.h"

namespace tilewright::cuda {

// The dimension along which a tile is contiguous in memory, if it is loaded, or read from a slot
// that is copied to, and at most transposed since; -1 if that is not known. `axes`:
// analyze_axes(module).
int contiguous_axis(const ir::Module& module, const std::vector<analysis::AxisInfo>& axes,
                    ir::ValueId value);

// Computes dots the other way round (passes/transpose_dots.h) where that reads shared memory
// better. 32-bit operands that are contiguous along K are read by ldmatrix in either place. Others
// are read by the element; as A two neighbours at a time, since the values of rows g and g + 8 lie
// in neighbouring registers, and as B one by one. So a B that is contiguous along N takes the place
// of A unless A needs it itself.
void orient_dots(ir::Module& module, const Target& target);

}  // namespace tilewright::cuda
