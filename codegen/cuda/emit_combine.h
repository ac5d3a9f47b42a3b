// The region of a reduction or scan as a lambda of the text.
#pragma once

#include <string>

#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {

// Declares fold(a…, b…), which makes (a…) the combination of (a…) and (b…), and gives its name.
std::string emit_fold(Emitter& e, const ir::OpNode& op);

}  // namespace tilewright::cuda
