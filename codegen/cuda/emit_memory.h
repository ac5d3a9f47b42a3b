// What loads, stores and atomics share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::cuda {

class Emitter;

// The prelude's hint for the op's cache and eviction attributes; empty for none.
std::string cache_hint(const ir::Attrs& attrs);
// Starts of aligned groups of `width` registers that have none of the bits of `copies`.
std::vector<uint32_t> distinct_registers(int registers, uint32_t copies, int width);
// Elements that one access of the op moves.
int memory_vector(const Emitter& e, ir::OpId id, int registers);
// "a && b", where either may be empty.
std::string both(const std::string& a, const std::string& b);

}  // namespace tilewright::cuda
