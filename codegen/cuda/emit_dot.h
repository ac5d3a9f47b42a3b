#pragma once

#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

class Emitter;

// A dot element by element (emit_dot_fma.cpp).
void emit_fma_dot(Emitter& e, ir::OpId id, const DotPlan& plan);

}  // namespace tilewright::cuda
