// The two sides of a trip through shared memory, for conversions and staged dot operands.
#pragma once

#include <string>

#include "codegen/cuda/emitter.h"
#include "codegen/layout/conversion.h"

namespace tilewright::cuda {

// Where accesses of one side lie: base(thread) ^ offset.
class SharedPlace {
 public:
  // `start` is where the buffer begins in the program's shared memory.
  SharedPlace(Emitter& e, const layout::SharedAccess& access, int64_t start);
  // Splits an offset into the bits that meet the thread's part (to be XORed) and the rest (added),
  // so that few addresses need arithmetic.
  uint32_t meeting(uint32_t offset) const { return offset & reach_; }
  uint32_t apart(uint32_t offset) const { return offset & ~reach_; }
  // The address from the texts of both parts.
  std::string address(const std::string& meeting, const std::string& apart) const;

 private:
  std::string at_;
  uint32_t reach_ = 0, start_ = 0;
};

// Stores accesses [first, last) of `access` from the registers of `view`.
void emit_shared_stores(Emitter& e, const layout::SharedAccess& access, int64_t start,
                        const View& view, int first, int last);
// Loads accesses [first, last) into the registers of a plain view.
void emit_shared_loads(Emitter& e, const layout::SharedAccess& access, int64_t start,
                       const View& view, int first, int last);

}  // namespace tilewright::cuda
