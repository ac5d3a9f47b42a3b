#include "codegen/passes/canonicalize.h"

#include "codegen/passes/passes.h"
#include "codegen/passes/rules.h"

namespace tilewright::passes {

// Constants come first: most other rules look at operands that are constants on the right.
const std::vector<const Rule*>& canonicalization_rules() {
  static const std::vector<const Rule*> all = [] {
    std::vector<const Rule*> rules;
    for (std::span<const Rule> family :
         {constant_rules(), integer_rules(), float_rules(), logic_rules(), cast_rules(),
          shape_rules(), memory_rules(), control_rules()})
      for (const Rule& rule : family) rules.push_back(&rule);
    return rules;
  }();
  return all;
}

bool canonicalize(ir::Module& module, std::vector<int>& hits) {
  Rewriter rewriter(module, canonicalization_rules());
  bool changed = rewriter.run();
  hits = rewriter.hits();
  return changed;
}

bool canonicalize(ir::Module& module) {
  std::vector<int> hits;
  return canonicalize(module, hits);
}

}  // namespace tilewright::passes
