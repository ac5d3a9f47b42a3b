// Small things that passes share.
#pragma once

#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::passes {

// Values that other values stand for.
class ReplacementMap {
 public:
  explicit ReplacementMap(const ir::Module& module) : by_(module.value_count()) {}

  void set(ir::ValueId from, ir::ValueId to) { by_[from.index] = resolve(to); }
  ir::ValueId resolve(ir::ValueId id) const {
    while (id.index < by_.size() && by_[id.index].valid()) id = by_[id.index];
    return id;
  }

 private:
  std::vector<ir::ValueId> by_;
};

// How often each value is an operand in the reachable part of the module.
std::vector<int> count_uses(const ir::Module& module);

}  // namespace tilewright::passes
