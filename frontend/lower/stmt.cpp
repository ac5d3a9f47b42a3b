// Statements, except control flow.
#include <fmt/format.h>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Stmt;
using dsl::StmtKind;
using Kind = Value::Kind;

// Assigning to a plain name turns Python numbers into tensors, inside tuples too.
Value decay(Lowering& lw, const Value& value, Span span) {
  if (value.is_number()) return lw.to_tensor(value, span);
  if (value.kind != Kind::kTuple) return value;
  Value out = value;
  for (Value& element : out.elements) element = decay(lw, element, span);
  return out;
}

void lower_annotated(Lowering& lw, const Stmt* stmt) {
  const Expr* target = stmt->targets[0];
  if (!stmt->value) return;
  Value value = lw.eval(stmt->value);
  if (!is_constexpr_annotation(stmt->annotation) || target->kind != ExprKind::kName) {
    lw.bind_target(target, value, stmt->value->span);
    return;
  }
  Scope& scope = lw.frame().scope;
  // Unrolled loops run one declaration several times.
  if (const Binding* old = scope.find(target->text); old && old->origin != stmt) {
    lw.fail(DiagKind::kConstexprReassigned, target->span,
            fmt::format("'{}' already has a value and cannot be declared constexpr", target->text),
            {{old->span, fmt::format("'{}' gets its first value here", target->text)}});
    return;
  }
  std::vector<ir::ValueId> parts;
  flatten(value, parts);
  if (!parts.empty())
    value = lw.fail(DiagKind::kNotConstexpr, stmt->value->span,
                    fmt::format("'{}' is declared constexpr, but its value is {}, known at run "
                                "time only",
                                target->text, describe(value)));
  scope.names[target->text] = {std::move(value), target->span, true, stmt};
}

void lower_augmented(Lowering& lw, const Stmt* stmt) {
  const Expr* target = stmt->targets[0];
  Value value = lw.eval(stmt->value);
  if (target->kind != ExprKind::kName) {
    lw.fail(DiagKind::kUnsupportedSyntax, target->span,
            "only a name can be assigned in a kernel; memory is written by tl.store");
    return;
  }
  Value old = lw.eval(target);
  Value result = lw.binary(stmt->op, old, value, stmt->span, target->span, stmt->value->span);
  lw.bind_target(target, result, stmt->span);
}

void lower_raise(Lowering& lw, const Stmt* stmt) {
  std::string text = "the kernel raises an error for these arguments";
  const Expr* error = stmt->value;
  if (error && error->kind == ExprKind::kCall && error->children.size() > 1) {
    Value message = lw.eval(error->children[1]);
    if (message.is_error()) return;
    if (auto words = constant_text(message)) text = "the kernel raises: " + *words;
  }
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  lw.fail(DiagKind::kRaised, stmt->span, text);
}

// `assert c, m` is tl.device_assert, except that a constant is judged now.
void lower_assert(Lowering& lw, const Stmt* stmt) {
  CallArguments arguments;
  arguments.positional.push_back({lw.eval(stmt->value), stmt->value->span});
  if (arguments.positional[0].value.is_error()) return;
  if (stmt->message) {
    Value message = lw.eval(stmt->message);
    if (message.is_error()) return;
    arguments.positional.push_back({message, stmt->message->span});
  }
  bool constant = !arguments.positional[0].value.is_tensor();
  lw.call_builtin(*find_builtin(constant ? "tl.static_assert" : "tl.device_assert"),
                  std::move(arguments), stmt->span, "assert");
}

std::string_view statement_name(StmtKind kind) {
  switch (kind) {
    case StmtKind::kBreak:
      return "'break'";
    case StmtKind::kContinue:
      return "'continue'";
    case StmtKind::kWith:
      return "'with'";
    case StmtKind::kFunction:
      return "a function inside a function";
    case StmtKind::kClass:
      return "a class";
    case StmtKind::kImport:
      return "an import";
    default:
      return "this statement";
  }
}

}  // namespace

void Lowering::set_name_hint(const Value& value, std::string_view name) {
  if (value.is_tensor()) {
    ir::Value& defined = module.value(value.id);
    if (defined.name.empty()) defined.name = name;
  }
  if (value.kind == Kind::kTuple)
    for (const Value& element : value.elements) set_name_hint(element, name);
}

void Lowering::bind_name(std::string_view name, Value value, Span span) {
  Value bound = decay(*this, value, span);
  set_name_hint(bound, name);
  frame().scope.names[std::string(name)] = {std::move(bound), span, false, nullptr};
}

void Lowering::bind_target(const Expr* target, const Value& value, Span value_span) {
  SpanScope at(*this, value_span);
  if (target->kind == ExprKind::kName) return bind_name(target->text, value, target->span);
  if (target->kind != ExprKind::kTuple && target->kind != ExprKind::kList) {
    fail(DiagKind::kUnsupportedSyntax, target->span,
         "only names can be assigned in a kernel; memory is written by tl.store");
    return;
  }
  bool fits = value.kind == Kind::kTuple && value.elements.size() == target->children.size();
  if (!fits && !value.is_error())
    fail(DiagKind::kUnpackMismatch, value_span,
         fmt::format("{} cannot be unpacked into {} names", describe(value),
                     target->children.size()));
  for (size_t i = 0; i < target->children.size(); ++i)
    bind_target(target->children[i], fits ? value.elements[i] : Value::error(), value_span);
}

void Lowering::lower_statement(const Stmt* stmt) {
  SpanScope at(*this, stmt->span);
  switch (stmt->kind) {
    case StmtKind::kExpr:
      if (stmt->value->kind != ExprKind::kString && stmt->value->kind != ExprKind::kEllipsis)
        eval(stmt->value);
      return;
    case StmtKind::kAssign: {
      Value value = eval(stmt->value);
      for (const Expr* target : stmt->targets) bind_target(target, value, stmt->value->span);
      return;
    }
    case StmtKind::kAugAssign:
      return lower_augmented(*this, stmt);
    case StmtKind::kAnnAssign:
      return lower_annotated(*this, stmt);
    case StmtKind::kFor:
      return lower_for(stmt);
    case StmtKind::kWhile:
      return lower_while(stmt);
    case StmtKind::kAssert:
      return lower_assert(*this, stmt);
    case StmtKind::kRaise:
      return lower_raise(*this, stmt);
    case StmtKind::kPass:
      return;
    case StmtKind::kIf: {
      Condition test = condition(eval(stmt->value), stmt->value->span, "'if'");
      if (!test.ok) {
        // What the branches assign is unknown; its uses stay silent.
        for (const auto* body : {&stmt->body, &stmt->orelse})
          for (const std::string& name : assigned_names(*body))
            frame().scope.names[name] = {Value::error(), stmt->span, false, nullptr};
      } else if (test.constant) {
        lower_block(*test.constant ? stmt->body : stmt->orelse);
      } else if (!lower_if(stmt, test)) {
        frame().return_seen = true;
      }
      return;
    }
    case StmtKind::kReturn:
      if (frame().loop_depth > 0) {
        fail(DiagKind::kUnsupportedSyntax, stmt->span,
             "'return' inside a loop cannot be used in a kernel; guard the rest of the body with "
             "'if' instead");
        return;
      }
      frame().return_seen = true;
      return;
    case StmtKind::kBreak:
    case StmtKind::kContinue:
    case StmtKind::kWith:
    case StmtKind::kFunction:
    case StmtKind::kClass:
    case StmtKind::kImport:
      fail(DiagKind::kUnsupportedSyntax, stmt->span,
           fmt::format("{} cannot be used in a kernel{}", statement_name(stmt->kind),
                       stmt->kind == StmtKind::kBreak || stmt->kind == StmtKind::kContinue
                           ? "; guard the rest of the body with 'if'"
                           : ""));
      return;
  }
}

void Lowering::lower_block(const Statements& statements) {
  for (const Stmt* stmt : statements) {
    if (frame().return_seen || gave_up_) return;
    lower_statement(stmt);
  }
}

}  // namespace tilewright::frontend
