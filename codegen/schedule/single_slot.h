// Loops around dots for which shared memory has one slot only: nothing runs ahead, but what the
// dots read is copied there without going through registers, of which a large tile has none to
// spare.
//
//   %a = load %p                    barrier                     // the iteration before has read it
//   %c = dot %a, …          ->      copy_async buffer 0 %p; copy_commit; copy_wait {pending=0}
//                                   %a = shared_load buffer 0
//                                   %c = dot %a, …
#pragma once

#include "codegen/schedule/plan.h"

namespace tilewright::schedule {

// Rewrites the loads that the plan copies and gives the bytes of their buffers.
int64_t copy_in_place(ir::Module& module, const LoopPlan& plan);

}  // namespace tilewright::schedule
