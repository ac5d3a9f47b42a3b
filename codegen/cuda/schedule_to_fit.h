// The schedule pass within the limits of the target: what shared memory a schedule needs is known
// only when its text is made.
#pragma once

#include <functional>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {

// Schedules a copy of the module and emits it. Where that is out of shared memory, all loops get
// one stage fewer, down to none that is pipelined; Source::schedule says so.
Result<Source> schedule_to_fit(const ir::Module& module, const Target& target,
                               const std::function<Result<Source>(ir::Module&)>& emit);

}  // namespace tilewright::cuda
