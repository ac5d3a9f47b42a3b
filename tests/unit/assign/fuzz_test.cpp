// The rules of a layout assignment on random modules: shape ops in odd sequences, loops, memory.
#include <gtest/gtest.h>

#include "codegen/cuda/layouts.h"
#include "codegen/passes/passes.h"
#include "tests/unit/assign/check.h"
#include "tests/unit/ir/random_ir.h"

namespace tilewright::cuda {
namespace {

TEST(Fuzz, RulesHoldOnRandomModules) {
  for (uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ir::Module module = ir::random_module(seed, 30);
    module.attrs.set("num_warps", int64_t{1} << seed % 4);
    if (seed % 3 == 0) passes::run_pipeline(module).value();
    const Target& target = all_targets()[seed % all_targets().size()];
    auto layouts = assign_layouts(module, target);
    ASSERT_TRUE(layouts.ok());
    AssignmentChecker checker(module, *layouts, target);
    checker.bound_registers = false;
    checker.run();
  }
}

}  // namespace
}  // namespace tilewright::cuda
