// Calls: argument binding, builtins, and the expansion of jit functions at the place of the call.
#include <fmt/format.h>

#include "dsl/base/check.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using Kind = Value::Kind;

// A parameter as argument binding sees it, for jit functions and builtins alike.
struct Formal {
  std::string_view name;
  bool has_default = false;
  bool variadic = false;  // *args
  bool keyword_only = false;
};

struct Bound {
  std::vector<std::optional<CallArgument>> values;  // nullopt: the default
};

std::string quoted_list(const std::vector<Formal>& formals) {
  std::string out;
  for (const Formal& formal : formals)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", formal.variadic ? "*" : "", formal.name);
  return out;
}

// Python's rules: positional in order, then keywords, each parameter once.
std::optional<Bound> bind_arguments(Lowering& lw, const std::vector<Formal>& formals,
                                    CallArguments& args, Span span, const std::string& name) {
  Bound bound;
  bound.values.resize(formals.size());
  size_t next = 0;
  for (CallArgument& argument : args.positional) {
    if (next < formals.size() && formals[next].variadic) {
      auto& rest = bound.values[next];
      if (!rest) rest = CallArgument{Value::tuple({}), argument.span};
      rest->value.elements.push_back(std::move(argument.value));
      rest->span = join(rest->span, argument.span);
      continue;
    }
    if (next >= formals.size() || formals[next].keyword_only) {
      lw.fail(DiagKind::kUnexpectedArgument, argument.span,
              fmt::format("'{}' takes {} argument{}, this is one more", name, next,
                          next == 1 ? "" : "s"));
      return std::nullopt;
    }
    bound.values[next++] = std::move(argument);
  }
  for (size_t i = 0; i < args.keywords.size(); ++i) {
    auto& [keyword, argument] = args.keywords[i];
    size_t at = 0;
    while (at < formals.size() && formals[at].name != keyword) ++at;
    if (at == formals.size()) {
      lw.fail(DiagKind::kUnexpectedArgument, args.keyword_spans[i],
              fmt::format("'{}' has no parameter '{}'; it takes ({})", name, keyword,
                          quoted_list(formals)));
      return std::nullopt;
    }
    if (bound.values[at]) {
      lw.fail(DiagKind::kUnexpectedArgument, args.keyword_spans[i],
              fmt::format("'{}' is given its argument '{}' twice", name, keyword));
      return std::nullopt;
    }
    bound.values[at] = std::move(argument);
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    if (bound.values[i] || formals[i].has_default || formals[i].variadic) continue;
    lw.fail(DiagKind::kMissingArgument, span,
            fmt::format("the call of '{}' lacks its argument '{}'", name, formals[i].name));
    return std::nullopt;
  }
  return bound;
}

// The name of a callee for messages: its text when it is a plain or dotted name.
std::string callee_name(const Expr* callee) {
  if (callee->kind == ExprKind::kName) return callee->text;
  if (callee->kind != ExprKind::kAttribute) return "this function";
  const Expr* object = callee->children[0];
  bool dotted = object->kind == ExprKind::kName ||
                (object->kind == ExprKind::kAttribute && callee_name(object) != "this function");
  return (dotted ? callee_name(object) : "") + "." + callee->text;
}

bool add_starred(Lowering& lw, const Expr* expr, CallArguments& out) {
  Value value = lw.eval(expr->children[0]);
  if (value.kind == Kind::kTuple) {
    for (Value& element : value.elements) out.positional.push_back({element, expr->span});
    return true;
  }
  if (!value.is_error())
    lw.fail(DiagKind::kBadOperand, expr->span,
            fmt::format("'*' needs a tuple, but this is {}", describe(value)));
  return false;
}

// A value that exists at compile time only, as a constexpr parameter needs it.
bool is_static(const Value& value) {
  if (value.kind == Kind::kTuple) {
    for (const Value& element : value.elements)
      if (!is_static(element)) return false;
    return true;
  }
  return value.kind != Kind::kTensor && value.kind != Kind::kBlockPointer;
}

}  // namespace

CallArguments Lowering::eval_arguments(const Expr* call_expr, bool& ok) {
  CallArguments out;
  for (size_t i = 1; i < call_expr->children.size(); ++i) {
    const Expr* argument = call_expr->children[i];
    if (argument->kind == ExprKind::kStarred) {
      ok &= add_starred(*this, argument, out);
      continue;
    }
    if (argument->kind == ExprKind::kDoubleStarred) {
      fail(DiagKind::kUnsupportedSyntax, argument->span,
           "'**' in a call cannot be used in a kernel; name the arguments");
      ok = false;
      continue;
    }
    Value value = eval(argument);
    ok &= !value.is_error();
    out.positional.push_back({std::move(value), argument->span});
  }
  for (const dsl::Keyword& keyword : call_expr->keywords) {
    Value value = eval(keyword.value);
    ok &= !value.is_error();
    out.keywords.push_back({keyword.name, {std::move(value), keyword.value->span}});
    out.keyword_spans.push_back(keyword.span);
  }
  return out;
}

Value Lowering::eval_call(const Expr* expr) {
  const Expr* callee = expr->children[0];
  Value function = eval(callee);
  // The arguments are looked at even when the callee is wrong: they may hold mistakes of their own.
  bool ok = !function.is_error();
  CallArguments arguments = eval_arguments(expr, ok);
  if (!ok) return Value::error();
  return call(function, std::move(arguments), expr->span, callee_name(callee));
}

Value Lowering::call(const Value& callee, CallArguments arguments, Span span, std::string name) {
  switch (callee.kind) {
    case Kind::kFunction:
      return call_function(callee, std::move(arguments), span);
    case Kind::kBuiltin:
      return call_builtin(*callee.builtin, std::move(arguments), span, std::move(name));
    case Kind::kMethod:
      arguments.positional.insert(arguments.positional.begin(), {callee.elements[0], span});
      return call_builtin(*callee.builtin, std::move(arguments), span, std::move(name));
    case Kind::kModule:
      if (const Builtin* dialect = find_dialect(callee.text))
        return fail(DiagKind::kUnsupportedDialect, span,
                    fmt::format("'{}' belongs to {}, which is outside of Triton's language",
                                callee.text, dialect->doc));
      return fail(DiagKind::kUnknownName, span,
                  fmt::format("'{}' comes from the module '{}', which is not part of this program",
                              name, callee.text.substr(0, callee.text.rfind('.'))));
    case Kind::kError:
      return callee;
    default:
      return fail(DiagKind::kNotCallable, span,
                  fmt::format("{} cannot be called", describe(callee)));
  }
}

std::optional<Call> Lowering::bind_builtin(const Builtin& builtin, CallArguments arguments,
                                           Span span, std::string name) {
  if (builtin.kind == Builtin::Kind::kUnsupported) {
    fail(DiagKind::kUnsupportedBuiltin, span,
         fmt::format("'{}' ({}) is not supported yet", builtin.name, builtin.doc));
    return std::nullopt;
  }
  const std::vector<BuiltinParam>& params = builtin_params(builtin);
  std::vector<Formal> formals;
  bool after_variadic = false;
  for (const BuiltinParam& param : params) {
    formals.push_back(
        {param.name, param.default_value.has_value(), param.variadic, after_variadic});
    after_variadic |= param.variadic;
  }
  auto bound = bind_arguments(*this, formals, arguments, span, name);
  if (!bound) return std::nullopt;
  Call call;
  call.builtin = &builtin;
  call.span = span;
  call.name = std::move(name);
  for (size_t i = 0; i < params.size(); ++i) {
    auto& value = bound->values[i];
    call.given.push_back(value.has_value());
    call.spans.push_back(value ? value->span : span);
    if (value)
      call.args.push_back(std::move(value->value));
    else if (params[i].variadic)
      call.args.push_back(Value::tuple({}));
    else
      call.args.push_back(Value::of(*params[i].default_value));
  }
  return call;
}

namespace {

struct Handler {
  std::string_view name;
  Value (*lower)(Lowering&, const Call&);
};

constexpr Handler kHandlers[] = {
#define TW_BUILTIN(name, parameters, handler, detail, doc) {name, lower_##handler},
#define TW_LIBRARY(name, parameters, function, doc)
#define TW_ALIAS(name, target)
#define TW_UNSUPPORTED(name, doc)
#define TW_DIALECT(prefix, doc)
#include "frontend/builtins.def"
#undef TW_BUILTIN
#undef TW_LIBRARY
#undef TW_ALIAS
#undef TW_UNSUPPORTED
#undef TW_DIALECT
};

Value (*find_handler(std::string_view name))(Lowering&, const Call&) {
  static const auto index = [] {
    std::map<std::string_view, Value (*)(Lowering&, const Call&)> out;
    for (const Handler& handler : kHandlers) out.emplace(handler.name, handler.lower);
    return out;
  }();
  return index.at(name);
}

}  // namespace

Value Lowering::call_builtin(const Builtin& builtin, CallArguments arguments, Span span,
                             std::string name) {
  auto call = bind_builtin(builtin, std::move(arguments), span, std::move(name));
  if (!call) return Value::error();
  if (builtin.kind == Builtin::Kind::kLibrary)
    return call_library(builtin.handler, std::move(call->args), span);
  SpanScope at(*this, span);
  return find_handler(builtin.name)(*this, *call);
}

Value Lowering::call_library(std::string_view function, std::vector<Value> arguments, Span span) {
  bool found = false;
  Value callee = global_name(library(), function, span, found);
  TW_CHECK(found && callee.kind == Kind::kFunction,
           "library.py lacks the function " + std::string(function));
  CallArguments call_arguments;
  for (Value& argument : arguments) call_arguments.positional.push_back({argument, span});
  return call_function(callee, std::move(call_arguments), span);
}

Value Lowering::call_function(const Value& function, CallArguments arguments, Span span) {
  const dsl::Stmt* def = function.function;
  int depth = 0;
  for (const Frame* f = frame_; f; f = f->caller, ++depth)
    if (f->function == def)
      return fail(DiagKind::kRecursion, span,
                  fmt::format("'{}' calls itself; calls are expanded in place, so recursion cannot "
                              "end",
                              function.text));
  if (depth > limits.call_depth)
    return fail(DiagKind::kKernelTooLarge, span,
                fmt::format("calls are nested deeper than {}", limits.call_depth));
  std::vector<Formal> formals;
  for (const dsl::Param& param : def->params) {
    if (param.kind == dsl::Param::Kind::kVarKeywords)
      return fail(DiagKind::kUnsupportedSyntax, param.span,
                  "a '**' parameter cannot be used in a jit function; name the parameters");
    formals.push_back({param.name, param.default_value != nullptr,
                       param.kind == dsl::Param::Kind::kVarArgs,
                       param.kind == dsl::Param::Kind::kKeywordOnly});
  }
  auto bound = bind_arguments(*this, formals, arguments, span, function.text);
  if (!bound) return Value::error();

  for (size_t i = 0; i < def->params.size(); ++i) {
    const auto& given = bound->values[i];
    if (!given || !is_constexpr_annotation(def->params[i].annotation) || is_static(given->value))
      continue;
    return fail(
        DiagKind::kNotConstexpr, given->span,
        fmt::format("parameter '{}' of '{}' is constexpr, but its argument is {}, a run-time "
                    "value",
                    def->params[i].name, function.text, describe(given->value)));
  }
  Frame frame;
  frame.function = def;
  frame.file = function.library ? &library() : &user_file_;
  frame.call_span = shown(span);
  // Ops and mistakes inside the library are shown at the call in the user's file.
  if (function.library) frame.pinned = shown(span);
  frame.caller = frame_;
  SpanScope at(*this, span);
  FrameScope frame_scope(*this, frame);
  Scope scope;  // defaults do not see the other parameters
  for (size_t i = 0; i < def->params.size(); ++i) {
    const dsl::Param& param = def->params[i];
    Value value = Value::tuple({});
    if (bound->values[i])
      value = bound->values[i]->value;
    else if (param.kind != dsl::Param::Kind::kVarArgs)
      value = eval(param.default_value);
    bool declared = is_constexpr_annotation(param.annotation);
    scope.names[param.name] = {std::move(value), param.span, declared, nullptr};
  }
  frame.scope = std::move(scope);
  return lower_to_return({&def->body, 0, nullptr}).value;
}

}  // namespace tilewright::frontend
