// Kernel files: lexing and parsing. Recursive descent; syntax errors go to the sink and parsing
// resumes at the next statement, so one run reports several.
#pragma once

#include <memory>

#include "dsl/ast.h"
#include "dsl/base/diagnostic.h"

namespace tilewright::dsl {

// Parses file `file` of `sources`. Module-level statements that no kernel can depend on (host
// functions and classes without jit functions, expression statements, control flow) are skipped
// without looking inside. Functions are kept if a decorator's last name is `jit`, `kernel` helpers
// included. Never returns null; with errors in the sink the tree holds what could be understood.
std::unique_ptr<Ast> parse_file(const SourceMap& sources, uint16_t file, DiagSink& sink);

// True if `function` carries a decorator whose last name is `jit`.
bool is_jit_function(const Stmt& function);

}  // namespace tilewright::dsl
