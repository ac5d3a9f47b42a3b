// Which pointer arguments an address can be made from. Two accesses are taken to be apart when
// their arguments differ, as in Triton: a kernel whose arguments overlap must not store through one
// what a loop loads through another (dsl/LANGUAGE.md).
#pragma once

#include <map>
#include <set>

#include "codegen/ir/module.h"

namespace tilewright::schedule {

struct Roots {
  std::set<uint32_t> arguments;  // numbers of parameters
  bool unknown = false;          // also something else: an address from memory, a cast integer
};

class PointerRoots {
 public:
  explicit PointerRoots(const ir::Module& module) : module_(module) {}

  Roots of(ir::ValueId pointer);
  bool may_overlap(ir::ValueId a, ir::ValueId b);

 private:
  void follow(ir::ValueId value, std::set<ir::ValueId>& seen, Roots& roots);
  void follow_op(ir::ValueId value, const ir::OpNode& op, std::set<ir::ValueId>& seen,
                 Roots& roots);

  const ir::Module& module_;
  std::map<ir::ValueId, Roots> known_;
};

}  // namespace tilewright::schedule
