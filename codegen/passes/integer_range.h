// What values an integer can have, as far as masks, shifts, sums with constants and narrow types
// tell.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/passes/rewriter.h"

namespace tilewright::passes {

struct IntegerRange {
  int64_t low = 0, high = 0;
  bool within(int64_t least, int64_t most) const { return least <= low && high <= most; }
};

// nullopt: any that its type can hold, of 32 or more bits.
std::optional<IntegerRange> integer_range(Rewriter& rw, ir::ValueId value);

}  // namespace tilewright::passes
