// Kernels that go over the same range in several loops, as a normalisation does for the mean, the
// variance and the result:
//
//   for %k = %lo, %hi, %step { %x = load …%k… }         if %lo < %hi && %hi - %lo <= %step {
//   …                                                     %x = load …%lo…          once
//   for %k = %lo, %hi, %step { %x = load …%k… }    ->     … all without loops …
//   …                                                   } else {
//                                                         … as it was …
//                                                       }
//
// Where one step covers the range, which authors choose whenever a row fits, the tile stays in
// registers between the sweeps instead of being loaded again.
#pragma once

#include "codegen/ir/module.h"

namespace tilewright::schedule {

// The loops of a region, not of those inside, that go over the range of the first one with company;
// none if there is no company.
std::vector<ir::OpId> find_sweeps(const ir::Module& module, ir::RegionId region);

// True if it changed the module. It does only where that saves a load of a tile, the kernel is
// short, and a thread has room for the tiles. Loads are merged across stores through other
// arguments (pointer_roots.h).
bool merge_sweeps(ir::Module& module);

}  // namespace tilewright::schedule
