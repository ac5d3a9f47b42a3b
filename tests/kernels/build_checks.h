// What must hold of a kernel's cubin, read without a GPU.
#pragma once

#include "codegen/target/target.h"
#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

// Builds a launch for the target and rejects spills, local memory, too much shared memory and too
// few warps an SM. With TILEWRIGHT_BUILD_TIMES set it prints how long each phase took.
Status build_for(const LaunchSpec& spec, const Target& target);

}  // namespace tilewright::kernel_tests
