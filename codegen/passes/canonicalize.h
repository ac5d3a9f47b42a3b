// The rules of canonicalize as one list, for the pass itself and for the test that every rule has a
// text that shows it.
#pragma once

#include <vector>

#include "codegen/passes/rewriter.h"

namespace tilewright::passes {

const std::vector<const Rule*>& canonicalization_rules();
// As canonicalize; counts how often each rule was applied, parallel to canonicalization_rules().
bool canonicalize(ir::Module& module, std::vector<int>& hits);

}  // namespace tilewright::passes
