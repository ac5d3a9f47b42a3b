// Copies of ops, within one module.
#pragma once

#include <map>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::schedule {

// Copies ops to the end of regions. Operands are looked up in `map`, which learns the results and
// region arguments of what is copied; those that are not there are used as they are.
class Cloner {
 public:
  explicit Cloner(ir::Module& module) : m_(module) {}
  virtual ~Cloner() = default;

  std::map<ir::ValueId, ir::ValueId> map;

  ir::ValueId mapped(ir::ValueId value) const;
  void copy(const std::vector<ir::OpId>& ops, ir::RegionId to);
  void copy_op(ir::OpId op, ir::RegionId to);

 protected:
  // Does something else in place of copying the op; false: it is copied.
  virtual bool replace(ir::OpId, ir::RegionId) { return false; }

  ir::Module& m_;
};

}  // namespace tilewright::schedule
