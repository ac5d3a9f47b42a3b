#include "frontend/lower/scope.h"

namespace tilewright::frontend {
namespace {

void add_target(const dsl::Expr* target, std::set<std::string>& out) {
  if (!target) return;
  if (target->kind == dsl::ExprKind::kName) out.insert(target->text);
  if (target->kind == dsl::ExprKind::kTuple || target->kind == dsl::ExprKind::kList ||
      target->kind == dsl::ExprKind::kStarred)
    for (const dsl::Expr* child : target->children) add_target(child, out);
}

void add_names(const Statements& statements, std::set<std::string>& out) {
  for (const dsl::Stmt* stmt : statements) {
    for (const dsl::Expr* target : stmt->targets) add_target(target, out);
    add_names(stmt->body, out);
    add_names(stmt->orelse, out);
  }
}

}  // namespace

std::set<std::string> assigned_names(const Statements& statements) {
  std::set<std::string> out;
  add_names(statements, out);
  return out;
}

bool is_constexpr_annotation(const dsl::Expr* annotation) {
  if (!annotation) return false;
  std::string_view text = annotation->text;
  return text == "constexpr" || text.ends_with(".constexpr");
}

bool contains_return(const Statements& statements) {
  for (const dsl::Stmt* stmt : statements)
    if (stmt->kind == dsl::StmtKind::kReturn || contains_return(stmt->body) ||
        contains_return(stmt->orelse))
      return true;
  return false;
}

}  // namespace tilewright::frontend
