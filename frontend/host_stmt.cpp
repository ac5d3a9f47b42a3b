// Host statements: what functions that build config lists are made of.
#include <fmt/format.h>

#include "frontend/host_eval.h"

namespace tilewright::frontend {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Stmt;
using dsl::StmtKind;
using Kind = HostValue::Kind;

Status HostEvaluator::assign(const Expr& target, const HostValue& value, const Scope& scope) {
  if (target.kind == ExprKind::kName) {
    scope->names[target.text] = value;
    return {};
  }
  if (target.kind == ExprKind::kTuple || target.kind == ExprKind::kList) {
    TW_ASSIGN(std::vector<HostValue> items, iterate(value, target));
    if (items.size() != target.children.size())
      return fail(target, fmt::format("{} values are unpacked into {} names", items.size(),
                                      target.children.size()));
    for (size_t i = 0; i < items.size(); ++i) TW_TRY(assign(*target.children[i], items[i], scope));
    return {};
  }
  if (target.kind == ExprKind::kSubscript && target.children.size() == 2 && target.children[1]) {
    TW_ASSIGN(HostValue object, eval(*target.children[0], scope));
    TW_ASSIGN(HostValue key, eval(*target.children[1], scope));
    if (object.kind == Kind::kDict) {
      auto& items = *object.items;
      for (size_t i = 0; i < items.size(); i += 2)
        if (to_constant(items[i]) == to_constant(key)) {
          items[i + 1] = value;
          return {};
        }
      items.push_back(std::move(key));
      items.push_back(value);
      return {};
    }
  }
  return fail(target, "this assignment is not evaluated on the host");
}

Result<HostEvaluator::Flow> HostEvaluator::run(const std::vector<Stmt*>& body, const Scope& scope,
                                               HostValue& result) {
  for (const Stmt* stmt : body) {
    TW_ASSIGN(Flow flow, run(*stmt, scope, result));
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<HostEvaluator::Flow> HostEvaluator::run_for(const Stmt& stmt, const Scope& scope,
                                                   HostValue& result) {
  TW_ASSIGN(HostValue iterable, eval(*stmt.value, scope));
  TW_ASSIGN(std::vector<HostValue> items, iterate(iterable, *stmt.value));
  for (const HostValue& item : items) {
    TW_TRY(assign(*stmt.targets[0], item, scope));
    TW_ASSIGN(Flow flow, run(stmt.body, scope, result));
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) return Flow::kNext;
  }
  return run(stmt.orelse, scope, result);
}

Result<HostEvaluator::Flow> HostEvaluator::run(const Stmt& stmt, const Scope& scope,
                                               HostValue& result) {
  switch (stmt.kind) {
    case StmtKind::kExpr: {
      TW_TRY(eval(*stmt.value, scope));
      return Flow::kNext;
    }
    case StmtKind::kAssign:
    case StmtKind::kAnnAssign: {
      if (!stmt.value) return Flow::kNext;
      TW_ASSIGN(HostValue value, eval(*stmt.value, scope));
      for (const Expr* target : stmt.targets) TW_TRY(assign(*target, value, scope));
      return Flow::kNext;
    }
    case StmtKind::kAugAssign: {
      TW_ASSIGN(HostValue old, eval(*stmt.targets[0], scope));
      TW_ASSIGN(HostValue value, eval(*stmt.value, scope));
      TW_ASSIGN(HostValue sum, apply_binary(*stmt.value, stmt.op, old, value));
      if (old.kind == Kind::kList && sum.kind == Kind::kList) {
        *old.items = *sum.items;  // In place: other names of the list see it.
        return Flow::kNext;
      }
      TW_TRY(assign(*stmt.targets[0], sum, scope));
      return Flow::kNext;
    }
    case StmtKind::kIf: {
      TW_ASSIGN(HostValue condition, eval(*stmt.value, scope));
      TW_ASSIGN(bool holds, truth(condition, *stmt.value));
      return run(holds ? stmt.body : stmt.orelse, scope, result);
    }
    case StmtKind::kFor:
      return run_for(stmt, scope, result);
    case StmtKind::kReturn:
      if (stmt.value) {
        TW_ASSIGN(result, eval(*stmt.value, scope));
      }
      return Flow::kReturn;
    case StmtKind::kFunction: {
      HostValue function;
      function.kind = Kind::kFunction;
      function.function = &stmt;
      function.closure = scope;
      scope->names[stmt.name] = std::move(function);
      return Flow::kNext;
    }
    case StmtKind::kImport:
      for (const dsl::ImportName& import : stmt.imports)
        scope->names[import.alias] = HostValue::module(
            import.name.empty() ? import.module : import.module + "." + import.name);
      return Flow::kNext;
    case StmtKind::kPass:
      return Flow::kNext;
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
    default:
      return fail_at(stmt.span, "this statement is not evaluated on the host");
  }
}

}  // namespace tilewright::frontend
