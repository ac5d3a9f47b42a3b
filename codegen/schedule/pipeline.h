// Carries out the plan of one loop.
#pragma once

#include "codegen/schedule/plan.h"

namespace tilewright::schedule {

// Rewrites the loop and gives the bytes of its buffers. Ids of ops outside of the loop stay valid.
int64_t pipeline(ir::Module& module, const LoopPlan& plan);

}  // namespace tilewright::schedule
