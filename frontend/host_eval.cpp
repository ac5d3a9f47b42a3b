// Host expressions: names, operators, containers, comprehensions.
#include "frontend/host_eval.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/fold.h"

namespace tilewright::frontend {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Operator;
using Kind = HostValue::Kind;

HostValue HostValue::of(Constant constant) {
  HostValue value;
  value.constant = std::move(constant);
  return value;
}

HostValue HostValue::list(std::vector<HostValue> items) {
  HostValue value;
  value.kind = Kind::kList;
  value.items = std::make_shared<std::vector<HostValue>>(std::move(items));
  return value;
}

HostValue HostValue::dict(std::vector<HostValue> items) {
  HostValue value = list(std::move(items));
  value.kind = Kind::kDict;
  return value;
}

HostValue HostValue::module(std::string path) {
  HostValue value;
  value.kind = Kind::kModule;
  value.text = std::move(path);
  return value;
}

HostValue HostValue::argument(std::string name) {
  HostValue value = module(std::move(name));
  value.kind = Kind::kArgument;
  return value;
}

std::optional<Constant> to_constant(const HostValue& value) {
  if (value.kind == Kind::kConstant) return value.constant;
  if (value.kind == Kind::kModule) {
    // A dtype under any prefix: tl.float16, torch.float16.
    auto dtype = parse_dtype(value.text.substr(value.text.rfind('.') + 1));
    return dtype ? std::optional(Constant::type(*dtype)) : std::nullopt;
  }
  if (value.kind != Kind::kList) return std::nullopt;
  Constant tuple;
  tuple.kind = Constant::Kind::kTuple;
  for (const HostValue& item : *value.items) {
    auto element = to_constant(item);
    if (!element) return std::nullopt;
    tuple.elements.push_back(std::move(*element));
  }
  return tuple;
}

ErrorInfo HostEvaluator::fail_at(Span span, std::string message, DiagKind kind) {
  ErrorInfo error = make_error(kind, message);
  error.details =
      render(Diagnostic{kind, Severity::kError, span, std::move(message), {}}, program_.sources());
  return error;
}

ErrorInfo HostEvaluator::fail(const Expr& at, std::string message, DiagKind kind) {
  return fail_at(at.span, std::move(message), kind);
}

Result<HostValue> HostEvaluator::located(const Expr& at, Result<Constant> result) {
  if (result) return HostValue::of(std::move(*result));
  return fail(at, result.error().message, result.error().kind);
}

Result<HostValue> HostEvaluator::eval(const Expr& expr) {
  steps_ = 0;
  return eval(expr, std::make_shared<HostScope>());
}

Result<HostValue> HostEvaluator::eval(const Expr& expr, const Scope& scope) {
  if (++steps_ > kMaxSteps) return fail(expr, "this host code runs too long");
  switch (expr.kind) {
    case ExprKind::kName:
      return eval_name(expr, scope);
    case ExprKind::kInt: {
      Constant c = Constant::integer_of(static_cast<int64_t>(expr.int_bits));
      c.is_unsigned = expr.int_bits > static_cast<uint64_t>(INT64_MAX);
      return HostValue::of(c);
    }
    case ExprKind::kFloat:
      return HostValue::of(Constant::real(expr.number));
    case ExprKind::kString:
      return HostValue::of(Constant::string(expr.text));
    case ExprKind::kFString:
      return eval_format(expr, scope);
    case ExprKind::kTrue:
    case ExprKind::kFalse:
      return HostValue::of(Constant::boolean(expr.kind == ExprKind::kTrue));
    case ExprKind::kNone:
      return HostValue::of(Constant::none());
    case ExprKind::kTuple:
    case ExprKind::kList:
      return eval_sequence(expr, scope);
    case ExprKind::kDict:
      return eval_dict(expr, scope);
    case ExprKind::kAttribute:
      return eval_attribute(expr, scope);
    case ExprKind::kSubscript:
      return eval_subscript(expr, scope);
    case ExprKind::kCall:
      return eval_call(expr, scope);
    case ExprKind::kUnary:
      return eval_unary(expr, scope);
    case ExprKind::kBinary:
      return eval_binary(expr, scope);
    case ExprKind::kBoolOp:
      return eval_bool(expr, scope);
    case ExprKind::kCompare:
      return eval_compare(expr, scope);
    case ExprKind::kTernary: {
      TW_ASSIGN(HostValue condition, eval(*expr.children[0], scope));
      TW_ASSIGN(bool holds, truth(condition, *expr.children[0]));
      return eval(*expr.children[holds ? 1 : 2], scope);
    }
    case ExprKind::kLambda: {
      HostValue value;
      value.kind = Kind::kFunction;
      value.lambda = &expr;
      value.closure = scope;
      return value;
    }
    case ExprKind::kNamed: {
      TW_ASSIGN(HostValue value, eval(*expr.children[0], scope));
      scope->names[expr.text] = value;
      return value;
    }
    case ExprKind::kListComp:
      return eval_comprehension(expr, scope);
    case ExprKind::kUnsupported:
      if (!expr.clauses.empty() && expr.children.size() == 1)
        return eval_comprehension(expr, scope);
      return fail(expr, expr.text + " is not evaluated on the host");
    default:
      return fail(expr, "this form of expression is not evaluated on the host");
  }
}

Result<HostValue> HostEvaluator::eval_name(const Expr& expr, const Scope& scope) {
  for (const HostScope* s = scope.get(); s != nullptr; s = s->outer.get())
    if (auto it = s->names.find(expr.text); it != s->names.end()) return it->second;
  if (auto it = globals_.find(expr.text); it != globals_.end()) return it->second;
  return eval_global(expr);
}

// The caller's environment, then the file's last definition, then names of other modules.
Result<HostValue> HostEvaluator::eval_global(const Expr& expr) {
  const std::string& name = expr.text;
  if (auto it = program_.environment().find(name); it != program_.environment().end())
    return HostValue::of(it->second);
  const dsl::Expr* value = nullptr;
  HostValue other = HostValue::module(name);
  for (const dsl::Stmt* stmt : program_.ast().body) {
    if (stmt->kind == dsl::StmtKind::kFunction && stmt->name == name) {
      Constant function = Constant::string(name);
      function.kind = Constant::Kind::kFunction;
      other = HostValue::of(std::move(function));
      value = nullptr;
    }
    for (const dsl::Expr* target : stmt->targets)
      if (stmt->value && target->kind == ExprKind::kName && target->text == name &&
          stmt->kind != dsl::StmtKind::kAugAssign)
        value = stmt->value;
    for (const dsl::ImportName& import : stmt->imports)
      if (import.alias == name)
        other = HostValue::module(import.name.empty() ? import.module
                                                      : import.module + "." + import.name);
  }
  for (const dsl::Stmt* function : program_.ast().host_functions) {
    if (value || function->name != name) continue;
    other = HostValue();
    other.kind = Kind::kFunction;
    other.function = function;
  }
  if (value == nullptr) return other;
  if (std::ranges::find(in_progress_, name) != in_progress_.end())
    return fail(expr, fmt::format("'{}' is defined by itself", name));
  in_progress_.push_back(name);
  Result<HostValue> result = eval(*value, std::make_shared<HostScope>());
  in_progress_.pop_back();
  if (result) globals_[name] = *result;
  return result;
}

std::optional<Constant> platform_fact(std::string_view path) {
  if (path.ends_with("version.hip") || path.ends_with("version.xpu")) return Constant::none();
  if (path.ends_with("get_current_target().backend")) return Constant::string("cuda");
  if (path == "os.environ.get()" || path == "os.getenv()") return Constant::none();
  if (path.ends_with("cuda.is_available()")) return Constant::boolean(true);
  return std::nullopt;
}

Result<HostValue> HostEvaluator::eval_attribute(const Expr& expr, const Scope& scope) {
  TW_ASSIGN(HostValue object, eval(*expr.children[0], scope));
  if (object.kind == Kind::kModule) {
    std::string path = object.text + "." + expr.text;
    if (auto fact = platform_fact(path)) return HostValue::of(std::move(*fact));
    return HostValue::module(std::move(path));
  }
  if (object.kind == Kind::kConfig) {
    if (expr.text == "num_warps")
      return HostValue::of(Constant::integer_of(object.config->num_warps));
    if (expr.text == "num_stages")
      return HostValue::of(Constant::integer_of(object.config->num_stages));
    if (expr.text == "kwargs") {
      std::vector<HostValue> items;
      for (const auto& [key, value] : object.config->constants) {
        items.push_back(HostValue::of(Constant::string(key)));
        items.push_back(HostValue::of(value));
      }
      return HostValue::dict(std::move(items));
    }
  }
  if (object.kind == Kind::kArgument)
    return fail(expr, fmt::format("'{}' of the argument '{}' is not known on the host side",
                                  expr.text, object.text));
  return fail(expr, fmt::format("attribute '{}' is not evaluated on the host", expr.text));
}

Result<HostValue> HostEvaluator::eval_sequence(const Expr& expr, const Scope& scope) {
  std::vector<HostValue> items;
  for (const Expr* child : expr.children) {
    if (child->kind == ExprKind::kStarred) {
      TW_ASSIGN(HostValue value, eval(*child->children[0], scope));
      TW_ASSIGN(std::vector<HostValue> more, iterate(value, *child));
      items.insert(items.end(), more.begin(), more.end());
      continue;
    }
    TW_ASSIGN(HostValue value, eval(*child, scope));
    items.push_back(std::move(value));
  }
  return HostValue::list(std::move(items));
}

Result<HostValue> HostEvaluator::eval_dict(const Expr& expr, const Scope& scope) {
  std::vector<HostValue> items;
  for (const Expr* child : expr.children) {
    TW_ASSIGN(HostValue value, eval(*child, scope));
    items.push_back(std::move(value));
  }
  return HostValue::dict(std::move(items));
}

Result<HostValue> HostEvaluator::eval_unary(const Expr& expr, const Scope& scope) {
  TW_ASSIGN(HostValue operand, eval(*expr.children[0], scope));
  if (expr.op == Operator::kNot) {
    TW_ASSIGN(bool holds, truth(operand, expr));
    return HostValue::of(Constant::boolean(!holds));
  }
  auto x = to_constant(operand);
  if (!x) return fail(expr, "this operand is not evaluated on the host");
  return located(expr, fold_unary(expr.op, *x));
}

Result<HostValue> HostEvaluator::eval_binary(const Expr& expr, const Scope& scope) {
  TW_ASSIGN(HostValue a, eval(*expr.children[0], scope));
  TW_ASSIGN(HostValue b, eval(*expr.children[1], scope));
  return apply_binary(expr, expr.op, a, b);
}

Result<HostValue> HostEvaluator::apply_binary(const Expr& at, Operator op, const HostValue& a,
                                              const HostValue& b) {
  if (op == Operator::kAdd && a.kind == Kind::kList && b.kind == Kind::kList) {
    std::vector<HostValue> items = *a.items;
    items.insert(items.end(), b.items->begin(), b.items->end());
    return HostValue::list(std::move(items));
  }
  if (a.kind == Kind::kArgument || b.kind == Kind::kArgument)
    return fail(at, fmt::format("the value of the argument '{}' is not known on the host side",
                                a.kind == Kind::kArgument ? a.text : b.text));
  auto x = to_constant(a), y = to_constant(b);
  if (!x || !y)
    return fail(at, fmt::format("operator '{}' is not evaluated on the host for these operands",
                                operator_text(op)));
  return located(at, fold_binary(op, *x, *y));
}

Result<HostValue> HostEvaluator::eval_bool(const Expr& expr, const Scope& scope) {
  HostValue value;
  for (const Expr* child : expr.children) {
    TW_ASSIGN(value, eval(*child, scope));
    TW_ASSIGN(bool holds, truth(value, *child));
    if (holds == (expr.op == Operator::kBoolOr)) break;
  }
  return value;
}

Result<HostValue> HostEvaluator::eval_compare(const Expr& expr, const Scope& scope) {
  TW_ASSIGN(HostValue left, eval(*expr.children[0], scope));
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    TW_ASSIGN(HostValue right, eval(*expr.children[i + 1], scope));
    Operator op = expr.ops[i];
    bool holds = false;
    bool is_none_test = right.kind == Kind::kConstant &&
                        right.constant.kind == Constant::Kind::kNone &&
                        (op == Operator::kIs || op == Operator::kIsNot || op == Operator::kEq ||
                         op == Operator::kNe);
    if (is_none_test && left.kind != Kind::kConstant) {
      holds = op == Operator::kIsNot || op == Operator::kNe;  // Only a constant can be None.
    } else if (right.kind == Kind::kDict && (op == Operator::kIn || op == Operator::kNotIn)) {
      auto key = to_constant(left);
      for (size_t k = 0; k < right.items->size(); k += 2)
        holds |= key && to_constant((*right.items)[k]) == key;
      holds ^= op == Operator::kNotIn;
    } else {
      TW_ASSIGN(HostValue result, apply_binary(expr, op, left, right));
      TW_ASSIGN(holds, truth(result, expr));
    }
    if (!holds) return HostValue::of(Constant::boolean(false));
    left = std::move(right);
  }
  return HostValue::of(Constant::boolean(true));
}

Result<HostValue> HostEvaluator::eval_subscript(const Expr& expr, const Scope& scope) {
  TW_ASSIGN(HostValue object, eval(*expr.children[0], scope));
  if (expr.children.size() != 2) return fail(expr, "a host subscript takes one index");
  const Expr& index_expr = *expr.children[1];
  if (index_expr.kind == ExprKind::kSlice)
    return fail(expr, "slices are not evaluated on the host");
  TW_ASSIGN(HostValue index_value, eval(index_expr, scope));
  auto index = to_constant(index_value);
  if (object.kind == Kind::kDict && index) {
    for (size_t i = 0; i < object.items->size(); i += 2)
      if (to_constant((*object.items)[i]) == index) return (*object.items)[i + 1];
    return fail(expr, fmt::format("there is no entry {} here", to_string(*index)),
                DiagKind::kUnknownName);
  }
  if (object.kind != Kind::kList || !index || !is_integer(*index))
    return fail(expr, "this subscript is not evaluated on the host");
  auto size = static_cast<int64_t>(object.items->size());
  int64_t i = index->integer < 0 ? index->integer + size : index->integer;
  if (i < 0 || i >= size)
    return fail(expr, fmt::format("index {} is outside of a list of {}", index->integer, size));
  return (*object.items)[static_cast<size_t>(i)];
}

Result<HostValue> HostEvaluator::eval_comprehension(const Expr& expr, const Scope& scope) {
  std::vector<HostValue> items;
  auto inner = std::make_shared<HostScope>();
  inner->outer = scope;
  TW_TRY(run_clauses(expr, 0, inner, items));
  return HostValue::list(std::move(items));
}

Status HostEvaluator::run_clauses(const Expr& expr, size_t clause, const Scope& scope,
                                  std::vector<HostValue>& out) {
  if (clause == expr.clauses.size()) {
    TW_ASSIGN(HostValue element, eval(*expr.children[0], scope));
    out.push_back(std::move(element));
    return {};
  }
  const dsl::Comprehension& c = expr.clauses[clause];
  TW_ASSIGN(HostValue iterable, eval(*c.iterable, scope));
  TW_ASSIGN(std::vector<HostValue> items, iterate(iterable, *c.iterable));
  for (const HostValue& item : items) {
    TW_TRY(assign(*c.target, item, scope));
    bool holds = true;
    for (const Expr* condition : c.conditions) {
      TW_ASSIGN(HostValue value, eval(*condition, scope));
      TW_ASSIGN(holds, truth(value, *condition));
      if (!holds) break;
    }
    if (holds) TW_TRY(run_clauses(expr, clause + 1, scope, out));
  }
  return {};
}

Result<HostValue> HostEvaluator::eval_format(const Expr& expr, const Scope& scope) {
  std::string text;
  for (const Expr* child : expr.children) {
    TW_ASSIGN(HostValue value, eval(*child, scope));
    auto constant = to_constant(value);
    if (!constant) return fail(*child, "this value has no text on the host side");
    text += constant->kind == Constant::Kind::kString ? constant->text : to_string(*constant);
  }
  return HostValue::of(Constant::string(std::move(text)));
}

Result<bool> HostEvaluator::truth(const HostValue& value, const Expr& at) {
  if (value.kind == Kind::kConstant) return frontend::truth(value.constant);
  if (value.kind == Kind::kList || value.kind == Kind::kDict) return !value.items->empty();
  if (value.kind == Kind::kConfig || value.kind == Kind::kFunction) return true;
  return fail(at, fmt::format("whether '{}' holds is not known on the host side", value.text));
}

Result<std::vector<HostValue>> HostEvaluator::iterate(const HostValue& value, const Expr& at) {
  if (value.kind == Kind::kList) return *value.items;
  std::vector<HostValue> out;
  if (value.kind == Kind::kDict) {
    for (size_t i = 0; i < value.items->size(); i += 2) out.push_back((*value.items)[i]);
    return out;
  }
  if (value.kind == Kind::kConstant && value.constant.kind == Constant::Kind::kTuple) {
    for (const Constant& element : value.constant.elements) out.push_back(HostValue::of(element));
    return out;
  }
  return fail(at, "this cannot be iterated over on the host");
}

}  // namespace tilewright::frontend
