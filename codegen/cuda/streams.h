// Loads of what is read once and never written: kernels that reduce large tensors to little.
#pragma once

#include "codegen/ir/module.h"

namespace tilewright::cuda {

// Gives the cache operator `cs` (evict first) to loads of tiles, where the author has not said
// otherwise, in kernels that store no tiles. Their stream would push everything else out of the L2
// cache, and writing back what others have written there costs memory time: on an H200 reads run at
// 3.55 TB/s instead of 3.2 after a kernel that has filled the cache. Beside stores of as many bytes
// the same hint loses 4 to 7 %. What all programs read, and what the kernel reads again, stays.
void mark_streams(ir::Module& module);

}  // namespace tilewright::cuda
