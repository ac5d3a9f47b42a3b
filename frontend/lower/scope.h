// The local names of one function during lowering. Scopes are values: a branch works on a copy and
// the copies are merged (branch.cpp).
#pragma once

#include <map>
#include <set>
#include <string>

#include "frontend/lower/value.h"

namespace tilewright::frontend {

struct Binding {
  Value value;
  Span span;              // where it was bound
  bool declared = false;  // declared constexpr: may not be assigned again
  const void* origin =
      nullptr;  // the statement that declared it, which may run again when unrolled
};

struct Scope {
  std::map<std::string, Binding, std::less<>> names;
  // Names that existed in a branch or loop that has ended, and where: for the error on their use.
  std::map<std::string, Span, std::less<>> ended;

  const Binding* find(std::string_view name) const {
    auto it = names.find(name);
    return it == names.end() ? nullptr : &it->second;
  }
};

using Statements = std::vector<dsl::Stmt*>;

// Names that the statements may bind, nested blocks included.
std::set<std::string> assigned_names(const Statements& statements);
// `tl.constexpr`, `constexpr`, or either as a string.
bool is_constexpr_annotation(const dsl::Expr* annotation);
// Whether a return statement occurs, nested blocks included.
bool contains_return(const Statements& statements);

}  // namespace tilewright::frontend
