// One handler an op, from the op table. Element-wise ops share one (emit_elementwise.cpp).
#pragma once

#include "codegen/ir/module.h"

namespace tilewright::cuda {

class Emitter;

#define TW_OP(name, ...) void emit_##name(Emitter& e, ir::OpId id);
#define TW_EW_OP(name, ...)
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
void emit_elementwise(Emitter& e, ir::OpId id);

}  // namespace tilewright::cuda
