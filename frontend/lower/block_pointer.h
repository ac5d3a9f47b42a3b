// Block pointers and tensor descriptors: accesses through them, as pointer arithmetic and masks.
#pragma once

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

// tl.load and tl.store when their first argument is a block pointer.
Value load_block(Lowering& lw, const Call& call, ir::Attrs attrs);
Value store_block(Lowering& lw, const Call& call, ir::Attrs attrs);

// Any value converted to the dtype as a store converts it; numbers fold.
Value convert_to(Lowering& lw, const Value& value, Dtype dtype, Span span);

}  // namespace tilewright::frontend
