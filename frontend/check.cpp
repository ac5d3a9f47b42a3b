// Resolves every name, builtin and call of every kernel without argument types. Branches that a
// specialisation would prune are looked at too, except under `hasattr`, which guards names.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/parser.h"
#include "frontend/lower/lowering.h"
#include "frontend/spelling.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Stmt;
using dsl::StmtKind;
using Kind = Value::Kind;

class Checker {
 public:
  Checker(const Program& program, const Stmt& kernel)
      : program_(program), kernel_(kernel), lowering_(program, specialization_) {
    file_.ast = &program.ast();
    file_.program = &program;
    frame_.function = &kernel;
    frame_.file = &file_;
    lowering_.module.body = lowering_.module.add_region({});
    lowering_.builder.set_region(lowering_.module.body);
  }

  DiagSink run() {
    FrameScope frame(lowering_, frame_);
    for (const dsl::Param& param : kernel_.params) {
      // Defaults and annotations are names of the module.
      if (param.default_value) resolve(*param.default_value);
      if (param.kind == dsl::Param::Kind::kVarKeywords)
        fail(DiagKind::kUnsupportedSyntax, param.span,
             "a '**' parameter cannot be used in a jit function; name the parameters");
    }
    for (const dsl::Param& param : kernel_.params) locals_.insert(param.name);
    collect_locals(kernel_.body);
    block(kernel_.body);
    lowering_.sink.sort();
    return std::move(lowering_.sink);
  }

 private:
  Value fail(DiagKind kind, Span span, std::string message) {
    return lowering_.fail(kind, span, std::move(message));
  }
  void refuse(Span span, std::string_view what) {
    fail(DiagKind::kUnsupportedSyntax, span, fmt::format("{} cannot be used in a kernel", what));
  }

  // ---- local names: whatever the function assigns anywhere ----
  void collect_target(const Expr* target) {
    if (target->kind == ExprKind::kName) locals_.insert(target->text);
    if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList ||
        target->kind == ExprKind::kStarred)
      for (const Expr* child : target->children) collect_target(child);
  }
  void collect_named(const Expr* expr) {
    if (expr == nullptr) return;
    if (expr->kind == ExprKind::kNamed) locals_.insert(expr->text);
    for (const Expr* child : expr->children) collect_named(child);
    for (const dsl::Keyword& keyword : expr->keywords) collect_named(keyword.value);
  }
  void collect_locals(const std::vector<Stmt*>& body) {
    for (const Stmt* stmt : body) {
      for (const Expr* target : stmt->targets) collect_target(target);
      if (stmt->kind == StmtKind::kFunction || stmt->kind == StmtKind::kClass)
        locals_.insert(stmt->name);
      for (const dsl::ImportName& import : stmt->imports) locals_.insert(import.alias);
      collect_named(stmt->value);
      collect_locals(stmt->body);
      collect_locals(stmt->orelse);
    }
  }

  // ---- expressions: a value where the text alone decides it, else an error value ----
  Value resolve(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kName:
        return name(expr);
      case ExprKind::kAttribute:
        return attribute(expr);
      case ExprKind::kCall:
        return call(expr);
      case ExprKind::kUnsupported:
        refuse(expr.span, expr.text);
        return Value::error();
      case ExprKind::kLambda:
        refuse(expr.span, "a lambda");
        return Value::error();
      case ExprKind::kListComp:
        refuse(expr.span, "a list comprehension");
        return Value::error();
      case ExprKind::kDict:
        refuse(expr.span, "a dict");
        break;
      case ExprKind::kNamed:
        refuse(expr.span, "':='");
        break;
      case ExprKind::kCompare:
        if (expr.ops.size() > 1)
          fail(DiagKind::kUnsupportedSyntax, expr.span,
               "a chained comparison cannot be used in a kernel; write 'a < b and b < c'");
        break;
      default:
        break;
    }
    children(expr);
    return Value::error();
  }

  void children(const Expr& expr) {
    for (const Expr* child : expr.children)
      if (child) resolve(*child);
    for (const dsl::Keyword& keyword : expr.keywords) resolve(*keyword.value);
  }

  Value name(const Expr& expr) {
    if (locals_.contains(expr.text)) return Value::error();
    bool found = false;
    Value value = lowering_.global_name(file_, expr.text, expr.span, found);
    if (found) return value;
    if (const Builtin* builtin = find_builtin(expr.text)) return builtin_value(builtin);
    if (is_builtin_class(expr.text)) return Value::error();
    if (is_python_exception(expr.text) || star_import(expr.text, value)) return value;
    std::string_view nearest = nearest_word(expr.text, known_names());
    return fail(DiagKind::kUnknownName, expr.span,
                fmt::format("'{}' is not defined{}", expr.text,
                            nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
  }

  static Value builtin_value(const Builtin* builtin) {
    Value value;
    value.kind = Kind::kBuiltin;
    value.builtin = builtin;
    return value;
  }

  // `raise ValueError(…)` and the like.
  static bool is_python_exception(std::string_view name) {
    return name.ends_with("Error") || name == "Exception";
  }

  bool star_import(std::string_view name, Value& value) const {
    for (const Stmt* stmt : program_.ast().body)
      for (const dsl::ImportName& import : stmt->imports) {
        if (import.name != "*") continue;
        std::string path = canonical_name(import.module + "." + std::string(name));
        if (const Builtin* builtin = find_builtin(path)) {
          value = builtin_value(builtin);
          return true;
        }
        // What another package exports under `*` cannot be known.
        if (builtin_constant(path) || !is_builtin_module(canonical_name(import.module)))
          return true;
      }
    return false;
  }

  std::vector<std::string_view> known_names() const {
    std::vector<std::string_view> names(locals_.begin(), locals_.end());
    for (const Stmt* stmt : program_.ast().body) {
      if (!stmt->name.empty()) names.push_back(stmt->name);
      for (const Expr* target : stmt->targets)
        if (target->kind == ExprKind::kName) names.push_back(target->text);
      for (const dsl::ImportName& import : stmt->imports) names.push_back(import.alias);
    }
    for (const auto& [name, value] : program_.environment()) names.push_back(name);
    for (const Builtin& builtin : all_builtins())
      if (builtin.name.find('.') == builtin.name.npos) names.push_back(builtin.name);
    return names;
  }

  Value attribute(const Expr& expr) {
    Value object = resolve(*expr.children[0]);
    auto size = static_cast<uint32_t>(expr.text.size());
    Span name_span{expr.span.end - size, expr.span.end, expr.span.file};
    switch (object.kind) {
      case Kind::kModule:
      case Kind::kClass:
      case Kind::kScope:
      case Kind::kType:
      case Kind::kBuiltin:
        return lowering_.attribute(object, expr.text, expr.span, name_span);
      default:
        return method(expr);
    }
  }

  // A method of a value whose type is not known: an error only if every type refuses it.
  Value method(const Expr& expr) {
    const Builtin* refused = nullptr;
    for (std::string_view kind : {"tensor.", "block.", "dtype.", "number."}) {
      const Builtin* builtin = find_builtin(std::string(kind) + expr.text);
      if (builtin == nullptr) continue;
      if (builtin->kind != Builtin::Kind::kUnsupported) return Value::error();
      refused = builtin;
    }
    if (refused)
      fail(DiagKind::kUnsupportedBuiltin, expr.span,
           fmt::format("'.{}' ({}) is not supported yet", expr.text, refused->doc));
    return Value::error();
  }

  // ---- calls ----
  Value call(const Expr& expr) {
    const Expr& callee = *expr.children[0];
    Value function = resolve(callee);
    bool has_stars = false;
    CallArguments arguments;
    for (size_t i = 1; i < expr.children.size(); ++i) {
      const Expr& argument = *expr.children[i];
      has_stars |= argument.kind == ExprKind::kStarred;
      if (argument.kind == ExprKind::kDoubleStarred) {
        fail(DiagKind::kUnsupportedSyntax, argument.span,
             "'**' in a call cannot be used in a kernel; name the arguments");
        has_stars = true;
      }
      resolve(argument);
      arguments.positional.push_back({Value::error(), argument.span});
    }
    for (const dsl::Keyword& keyword : expr.keywords) {
      resolve(*keyword.value);
      arguments.keywords.push_back({keyword.name, {Value::error(), keyword.value->span}});
      arguments.keyword_spans.push_back(keyword.span);
    }
    std::string text(program_.sources().text(callee.span));
    if (text.find('\n') != text.npos) text = callee.text;
    if (function.kind == Kind::kBuiltin) {
      if (has_stars && function.builtin->kind != Builtin::Kind::kUnsupported) return Value::error();
      lowering_.bind_builtin(*function.builtin, std::move(arguments), expr.span, text);
    } else if (function.kind == Kind::kModule) {
      // Reports what is wrong with calling into another package.
      lowering_.call(function, {}, expr.span, text);
    } else if (function.kind == Kind::kFunction && !has_stars) {
      bind_function(*function.function, arguments, expr.span, text);
    }
    return Value::error();
  }

  void bind_function(const Stmt& def, const CallArguments& arguments, Span span,
                     const std::string& text) {
    std::set<std::string_view> given;
    bool takes_any = false;
    size_t positional = 0;
    std::vector<std::string_view> names;
    for (const dsl::Param& param : def.params) {
      takes_any |=
          param.kind == dsl::Param::Kind::kVarArgs || param.kind == dsl::Param::Kind::kVarKeywords;
      names.push_back(param.name);
      if (param.kind != dsl::Param::Kind::kNormal) continue;
      if (positional++ < arguments.positional.size()) given.insert(param.name);
    }
    if (takes_any) return;
    if (arguments.positional.size() > positional) {
      fail(DiagKind::kUnexpectedArgument, arguments.positional[positional].span,
           fmt::format("'{}' takes {} arguments", text, positional));
      return;
    }
    for (size_t i = 0; i < arguments.keywords.size(); ++i) {
      const std::string& keyword = arguments.keywords[i].first;
      bool known = std::ranges::find(names, std::string_view(keyword)) != names.end();
      if (known && given.insert(keyword).second) continue;
      std::string_view nearest = known ? "" : nearest_word(keyword, names);
      fail(DiagKind::kUnexpectedArgument, arguments.keyword_spans[i],
           known
               ? fmt::format("'{}' is given its argument '{}' twice", text, keyword)
               : fmt::format("'{}' has no parameter '{}'{}", text, keyword,
                             nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
      return;
    }
    for (const dsl::Param& param : def.params) {
      if (param.default_value || given.contains(param.name)) continue;
      fail(DiagKind::kMissingArgument, span,
           fmt::format("the call of '{}' lacks its argument '{}'", text, param.name));
      return;
    }
  }

  // ---- statements ----
  static bool is_guard(const Expr& expr) {
    if (expr.kind == ExprKind::kCall && expr.children[0]->text == "hasattr") return true;
    return std::ranges::any_of(expr.children, [](const Expr* e) { return e && is_guard(*e); });
  }

  void block(const std::vector<Stmt*>& body) {
    for (const Stmt* stmt : body) statement(*stmt);
  }

  void statement(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kBreak:
        return refuse(stmt.span, "'break'");
      case StmtKind::kContinue:
        return refuse(stmt.span, "'continue'");
      case StmtKind::kWith:
        return refuse(stmt.span, "'with'");
      case StmtKind::kFunction:
        return refuse(stmt.span, "a function inside a function");
      case StmtKind::kClass:
        return refuse(stmt.span, "a class");
      case StmtKind::kImport:
        return refuse(stmt.span, "an import");
      case StmtKind::kRaise:  // reached only where a specialisation is refused
        return;
      default:
        break;
    }
    for (const Expr* target : stmt.targets) resolve(*target);
    for (const Expr* target : stmt.targets)
      if (target->kind == ExprKind::kSubscript || target->kind == ExprKind::kAttribute)
        fail(DiagKind::kUnsupportedSyntax, target->span,
             "only names can be assigned in a kernel; memory is written by tl.store");
    if (stmt.value) resolve(*stmt.value);
    if (stmt.message) resolve(*stmt.message);
    bool guarded = stmt.kind == StmtKind::kIf && is_guard(*stmt.value);
    if (guarded) return;
    block(stmt.body);
    bool is_loop = stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile;
    if (is_loop && !stmt.orelse.empty()) refuse(stmt.span, "'else' of a loop");
    block(stmt.orelse);
  }

  const Program& program_;
  const Stmt& kernel_;
  Specialization specialization_;
  Lowering lowering_;
  FileScope file_;
  Frame frame_;
  std::set<std::string, std::less<>> locals_;
};

}  // namespace

std::vector<CheckReport> check(const Program& program) {
  std::vector<CheckReport> reports;
  for (const std::string& name : program.functions())
    reports.push_back({name, Checker(program, *program.find(name)).run()});
  return reports;
}

}  // namespace tilewright::frontend
