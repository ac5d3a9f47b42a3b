// The decorators of a kernel by what they mean here.
#pragma once

#include "dsl/ast.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

struct Decorator {
  enum class Kind : uint8_t { kOther, kJit, kAutotune, kHeuristics };
  Kind kind = Kind::kOther;
  const dsl::Expr* call = nullptr;  // null for a decorator without arguments
};

std::vector<Decorator> decorators_of(const dsl::Stmt& function);
// The `{"NAME": function}` of a @triton.heuristics, or null.
const dsl::Expr* heuristics_dict(const Decorator& decorator);
// The definition of a kernel, or a `no-kernel` error that lists the file's kernels.
Result<const dsl::Stmt*> find_kernel(const Program& program, std::string_view name);

}  // namespace tilewright::frontend
