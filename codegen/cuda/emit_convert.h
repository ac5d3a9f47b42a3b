// The two sides of a trip through shared memory, for conversions and staged dot operands.
#pragma once

#include <string>

#include "codegen/cuda/emitter.h"
#include "codegen/layout/conversion.h"

namespace tilewright::cuda {

// Where accesses of one side lie: base(thread) ^ offset.
class SharedPlace {
 public:
  SharedPlace(Emitter& e, const layout::SharedAccess& access, const SharedStart& start);
  // Splits an offset into the bits that meet the thread's part (to be XORed) and the rest (added),
  // so that few addresses need arithmetic.
  uint32_t meeting(uint32_t offset) const { return offset & reach_; }
  uint32_t apart(uint32_t offset) const { return offset & ~reach_; }
  // The address from the texts of both parts.
  std::string address(const std::string& meeting, const std::string& apart) const;
  // A variable that holds the address but for the part that is added and start.bytes, declared
  // here or, where it depends on the thread alone, at the top of the kernel.
  std::string base(const std::string& hint, uint32_t meeting) const;

 private:
  Emitter& e_;
  std::string at_;
  uint32_t reach_ = 0;
  SharedStart start_;
};

// Stores accesses [first, last) of `access` from the registers of `view`.
void emit_shared_stores(Emitter& e, const layout::SharedAccess& access, const SharedStart& start,
                        const View& view, int first, int last);
// Loads accesses [first, last) into the registers of a plain view.
void emit_shared_loads(Emitter& e, const layout::SharedAccess& access, const SharedStart& start,
                       const View& view, int first, int last);
// A view of `source` where register r is its register table[r]: renamed if the table is linear,
// else copied.
View renamed(Emitter& e, const View& source, const std::vector<int>& table,
             const layout::LinearLayout& layout, std::string_view hint);

}  // namespace tilewright::cuda
