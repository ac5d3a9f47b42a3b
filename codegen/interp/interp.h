// The interpreter: the living definition of the ops. Slow and obvious; program instances run one
// after another in order of their linear index (axis 0 fastest).
#pragma once

#include <functional>

#include "codegen/execution.h"
#include "codegen/ir/module.h"

namespace tilewright::interp {

struct Options {
  // Asked before each access of [address, address + bytes); false makes the run fail with an
  // out-of-bounds error that names the op's span. Empty: no check.
  std::function<bool(uint64_t address, size_t bytes, bool is_write)> may_access;
  // Upper bound on executed ops over the whole grid; 0 = none. Exceeding it is an error (fuzzing).
  uint64_t fuel = 0;
  // Lets errors show the kernel's own line with a caret; without it they give the byte range.
  const SourceMap* sources = nullptr;
};

// Errors: `out-of-bounds`, `assert-failed`, `false-assumption`, `bad-loop-step`, `out-of-fuel`.
// Memory written by the ops before the failing one stays written.
Status run(const ir::Module& module, const Launch& launch, const Options& options = {});

}  // namespace tilewright::interp
