// The order of the target-independent passes, on one page.
#include "codegen/passes/passes.h"

namespace tilewright::passes {
namespace {

struct Step {
  std::string_view name;
  bool (*run)(ir::Module& module);
  bool is_contraction = false;  // left out without fp_fusion
};

constexpr Step kSteps[] = {
    // What the frontend emits is naive on purpose: constants, masks and loops of known length go.
    {"canonicalize", canonicalize},
    // Equal expressions become one value …
    {"cse", eliminate_common_subexpressions},
    // … and rules that ask whether two operands are the same value find more.
    {"canonicalize", canonicalize},
    // Before contraction, which asks how many uses a product has: dead ones must not count.
    {"dce", eliminate_dead_code},
    // Before hoisting, so that products are contracted where the author wrote them, loop-invariant
    // or not.
    {"contract_fma", contract_fma, true},
    // Before hoisting: what tiles of pointers and indices are made of no longer changes in a loop.
    {"uniform", make_increments_uniform},
    // The neg's that contraction made may fold.
    {"canonicalize", canonicalize},
    {"licm", hoist_loop_invariants},
    // Hoisting brings equal ops of different loops into one region.
    {"cse", eliminate_common_subexpressions},
    {"dce", eliminate_dead_code},
};

}  // namespace

Status run_pipeline(ir::Module& module, const PipelineOptions& options) {
  for (const Step& step : kSteps) {
    if (step.is_contraction && !options.fp_fusion) continue;
    bool changed = step.run(module);
    if (options.verify_each) TW_TRY(ir::verify(module));
    if (changed && options.observe) options.observe(step.name, module);
  }
  return {};
}

}  // namespace tilewright::passes
