// Names of module level: imports, constants, jit functions and classes of the file, the caller's
// environment, Triton's modules, and Python's builtins.
#include <fmt/format.h>

#include "dsl/base/check.h"
#include "dsl/parser.h"
#include "frontend/lower/lowering.h"

namespace tilewright::embedded {
extern const std::string_view frontend_library;
}

namespace tilewright::frontend {
namespace {

using Kind = Value::Kind;

// What binds a name in a file: the last definition wins, as it does when a module has run.
struct Definition {
  const dsl::Stmt* stmt = nullptr;
  const dsl::ImportName* import = nullptr;
  std::vector<size_t> path;  // indices into nested tuple targets
};

bool find_in_target(const dsl::Expr* target, std::string_view name, std::vector<size_t>& path) {
  if (target->kind == dsl::ExprKind::kName) return target->text == name;
  if (target->kind != dsl::ExprKind::kTuple && target->kind != dsl::ExprKind::kList) return false;
  for (size_t i = 0; i < target->children.size(); ++i) {
    path.push_back(i);
    if (find_in_target(target->children[i], name, path)) return true;
    path.pop_back();
  }
  return false;
}

Definition find_definition(const dsl::Ast& ast, std::string_view name) {
  Definition found;
  for (const dsl::Stmt* stmt : ast.body) {
    std::vector<size_t> path;
    switch (stmt->kind) {
      case dsl::StmtKind::kImport:
        for (const dsl::ImportName& import : stmt->imports)
          if (import.alias == name && import.name != "*") found = {stmt, &import, {}};
        break;
      case dsl::StmtKind::kAssign:
      case dsl::StmtKind::kAnnAssign:
        for (const dsl::Expr* target : stmt->targets)
          if (stmt->value && find_in_target(target, name, path)) found = {stmt, nullptr, path};
        break;
      case dsl::StmtKind::kFunction:
      case dsl::StmtKind::kClass:
        if (stmt->name == name) found = {stmt, nullptr, {}};
        break;
      default:
        break;
    }
  }
  return found;
}

Value function_value(const dsl::Stmt* def, std::string name, bool library) {
  Value out;
  out.kind = Kind::kFunction;
  out.function = def;
  out.text = std::move(name);
  out.library = library;
  return out;
}

Value builtin_value(const Builtin* builtin) {
  Value out;
  out.kind = Kind::kBuiltin;
  out.builtin = builtin;
  return out;
}

Value named(Kind kind, std::string text) {
  Value out;
  out.kind = kind;
  out.text = std::move(text);
  return out;
}

}  // namespace

Value Lowering::resolve_path(std::string_view dotted, Span span) {
  std::string name = canonical_name(dotted);
  if (auto constant = builtin_constant(name)) return Value::of(*constant);
  if (const Builtin* builtin = find_builtin(name)) return builtin_value(builtin);
  if (is_builtin_class(name)) return named(Kind::kClass, name);
  if (is_builtin_module(name) || find_dialect(dotted) || find_dialect(name))
    return named(Kind::kModule, find_dialect(dotted) ? std::string(dotted) : name);
  bool tritons = name.starts_with("tl.") || name.starts_with("libdevice.") ||
                 name.starts_with("triton.") || name.starts_with("math.") ||
                 name.starts_with("triton_helpers.");
  if (!tritons) return named(Kind::kModule, name);
  std::string_view nearest = nearest_builtin(name);
  size_t dot = name.rfind('.');
  return fail(DiagKind::kUnknownAttribute, span,
              fmt::format("'{}' has no attribute '{}'{}", name.substr(0, dot), name.substr(dot + 1),
                          nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

FileScope& Lowering::library() {
  // Parsed once a process; the tree is immutable afterwards.
  static const auto parsed = [] {
    auto sources = std::make_shared<SourceMap>();
    uint16_t file = sources->add("library.py", std::string(embedded::frontend_library));
    DiagSink errors;
    std::shared_ptr<const dsl::Ast> ast = dsl::parse_file(*sources, file, errors);
    TW_CHECK(!errors.has_errors(), render(errors, *sources));
    return std::pair(sources, ast);
  }();
  library_file_.ast = parsed.second.get();
  return library_file_;
}

Value Lowering::global_name(FileScope& file, std::string_view name, Span span, bool& found) {
  found = true;
  if (auto it = file.cache.find(name); it != file.cache.end()) return it->second;
  if (file.program) {
    const auto& environment = file.program->environment();
    if (auto it = environment.find(std::string(name)); it != environment.end()) {
      if (it->second.kind != Constant::Kind::kFunction) return Value::of(it->second);
      if (const dsl::Stmt* def = file.program->find(it->second.text))
        return function_value(def, it->second.text, false);
      return fail(DiagKind::kUnknownName, span,
                  fmt::format("'{}' stands for the function '{}', which the program does not have",
                              name, it->second.text));
    }
  }
  Definition definition = find_definition(*file.ast, name);
  bool library = !file.program;
  Value value;
  if (!definition.stmt) {
    found = false;
    return value;
  }
  if (definition.import) {
    const dsl::ImportName& import = *definition.import;
    std::string path = import.name.empty() ? import.module : import.module + "." + import.name;
    // `import a.b` without `as` binds `a`.
    if (import.name.empty() && import.alias != import.module &&
        import.module.starts_with(import.alias + "."))
      path = import.alias;
    value = resolve_path(path, span);
  } else if (definition.stmt->kind == dsl::StmtKind::kFunction) {
    value = function_value(definition.stmt, std::string(name), library);
  } else if (definition.stmt->kind == dsl::StmtKind::kClass) {
    value = named(Kind::kScope, std::string(name));
  } else {
    if (!file.in_progress.insert(std::string(name)).second)
      return fail(DiagKind::kUnknownName, span,
                  fmt::format("'{}' is defined by itself at module level", name));
    Frame frame;
    frame.function = definition.stmt;
    frame.file = &file;
    {
      FrameScope scope(*this, frame);
      value = eval(definition.stmt->value);
    }
    file.in_progress.erase(std::string(name));
    for (size_t index : definition.path) {
      if (value.is_error()) break;
      if (value.kind != Kind::kTuple || index >= value.elements.size())
        return fail(DiagKind::kUnpackMismatch, span,
                    fmt::format("'{}' is unpacked from {}", name, describe(value)));
      value = Value(value.elements[index]);
    }
  }
  return file.cache[std::string(name)] = value;
}

Value Lowering::eval_name(const dsl::Expr* expr) {
  const std::string& name = expr->text;
  if (const Binding* binding = frame().scope.find(name)) return binding->value;
  if (auto it = frame().scope.ended.find(name); it != frame().scope.ended.end())
    return fail(DiagKind::kUnknownName, expr->span,
                fmt::format("'{}' is not defined here: it exists only inside the block that "
                            "assigns it",
                            name),
                {{it->second, fmt::format("'{}' is assigned here; give it a value before the block "
                                          "or in both branches",
                                          name)}});
  bool found = false;
  Value value = global_name(*frame().file, name, expr->span, found);
  if (found) return value;
  if (name.find('.') == name.npos) {
    if (auto type = find_builtin(name)) return builtin_value(type);
    if (is_builtin_class(name)) return named(Kind::kClass, name);
  }
  for (const dsl::Stmt* stmt : frame().file->ast->body)
    for (const dsl::ImportName& import : stmt->imports) {
      if (import.name != "*") continue;
      std::string path = canonical_name(import.module + "." + name);
      if (auto constant = builtin_constant(path)) return Value::of(*constant);
      if (const Builtin* builtin = find_builtin(path)) return builtin_value(builtin);
    }
  return fail(DiagKind::kUnknownName, expr->span, fmt::format("'{}' is not defined", name));
}

}  // namespace tilewright::frontend
