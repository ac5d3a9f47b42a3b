// The trip through shared memory: where each element lies, so that both sides move wide vectors
// without bank conflicts.
#pragma once

#include "codegen/layout/conversion.h"

namespace tilewright::layout {

Conversion::Shared plan_shared(const LinearLayout& from, const LinearLayout& to, int element_bytes,
                               const ConversionOptions& options);

}  // namespace tilewright::layout
