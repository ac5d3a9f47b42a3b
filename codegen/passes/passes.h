// The tile-level passes, target-independent. Each is a free function over a Module, idempotent and
// deterministic, and returns whether it changed anything. pipeline.cpp is the order, with reasons.
#pragma once

#include "codegen/ir/module.h"

namespace tilewright::passes {

// Folds constants and rewrites to canonical forms (README.md lists the rules).
bool canonicalize(ir::Module& module);
// Merges equal pure ops, dominating ones first.
bool eliminate_common_subexpressions(ir::Module& module);
// Loop-carried tiles that move by the same amount everywhere become a tile from outside the loop
// and a carried scalar.
bool make_increments_uniform(ir::Module& module);
// Moves pure loop-invariant ops out of `for` and `while`.
bool hoist_loop_invariants(ir::Module& module);
// Removes pure ops and loop-carried values that nothing uses; compacts the module.
bool eliminate_dead_code(ir::Module& module);
// mul followed by a single add or sub becomes fma (floats). Runs before every backend, so that all
// of them round alike; off when the kernel is compiled with fp_fusion = false.
bool contract_fma(ir::Module& module);
// Casts of integers that are known to fit a byte go to floats by way of the byte. Not in the
// pipeline: the CUDA backend calls it.
bool narrow_casts(ir::Module& module);
// Selects in loops with dots are branched around where a scalar tells that their mask is true
// everywhere. Not in the pipeline: the CUDA backend calls it once loops are scheduled.
bool skip_masks(ir::Module& module);

struct PipelineOptions {
  bool fp_fusion = true;
  bool verify_each = false;  // verify after each pass (tests)
  // Called after each pass that changed the module, with its name; for dumps.
  std::function<void(std::string_view pass, const ir::Module&)> observe;
};
// The target-independent pipeline that every backend runs first.
Status run_pipeline(ir::Module& module, const PipelineOptions& options = {});

}  // namespace tilewright::passes
