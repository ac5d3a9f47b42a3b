// The region of a reduction or scan, applied to vectors of lanes. A region with branches of its own
// is run one element at a time.
#pragma once

#include <string>
#include <vector>

#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

class Combiner {
 public:
  using V = std::string;
  using Values = std::vector<V>;  // one LLVM value for each operand

  Combiner(Emitter& e, const ir::OpNode& op);

  bool has_branches() const { return branches_; }
  size_t arity() const { return op_.operands.size(); }
  std::string element_of(size_t k) const { return register_type(e_.type(op_.operands[k])); }
  // The operands' elements at an index.
  Values evaluate(const Index& index);
  // region(a..., b...) on `width` lanes; 1 where the region has branches.
  Values combine(const Values& a, const Values& b, int width);

 protected:
  Emitter& e_;
  const ir::OpNode& op_;

 private:
  Values combine_scalars(const ir::Region& region, const Values& a, const Values& b);

  bool branches_ = false;
};

}  // namespace tilewright::cpu
