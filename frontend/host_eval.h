// Runs the host code that decorators need without Python: config lists (literals, comprehensions,
// concatenation, small functions with loops that build them) and the lambdas of heuristics. A
// budget of steps bounds every evaluation; what is not understood is an `unsupported-host-code`
// error with a caret, never a guess.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsl/ast.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

struct HostScope;

// A value of host code. Lists and dicts are shared, as in Python.
struct HostValue {
  enum class Kind : uint8_t {
    kConstant,
    kList,      // items; also tuples
    kDict,      // items: key, value, key, value …
    kConfig,    // config
    kFunction,  // function (of the host) or lambda, with closure
    kModule,    // text: dotted path of something outside of the file, such as triton.Config
    kArgument,  // text: a kernel argument whose value is not known here (a pointer); not None
  };
  Kind kind = Kind::kConstant;
  Constant constant;
  std::string text;
  std::shared_ptr<std::vector<HostValue>> items;
  std::shared_ptr<DecoratorConfig> config;
  const dsl::Stmt* function = nullptr;
  const dsl::Expr* lambda = nullptr;
  std::shared_ptr<HostScope> closure;

  static HostValue of(Constant constant);
  static HostValue list(std::vector<HostValue> items);
  static HostValue dict(std::vector<HostValue> items);
  static HostValue module(std::string path);
  static HostValue argument(std::string name);
};

// Lists become tuples; null for what has no constant form.
std::optional<Constant> to_constant(const HostValue& value);

// Facts about the platform that host code asks for, by dotted path (`torch.version.hip`), or
// nothing. Configs are wanted for CUDA, whatever is installed here.
std::optional<Constant> platform_fact(std::string_view path);

struct HostScope {
  std::map<std::string, HostValue, std::less<>> names;
  std::shared_ptr<HostScope> outer;
};

class HostEvaluator {
 public:
  explicit HostEvaluator(const Program& program) : program_(program) {}

  // An expression at module level.
  Result<HostValue> eval(const dsl::Expr& expr);
  Result<HostValue> call_function(const HostValue& function, std::vector<HostValue> arguments,
                                  const dsl::Expr& where);

 private:
  static constexpr int kMaxSteps = 200'000;
  static constexpr int kMaxDepth = 64;
  using Scope = std::shared_ptr<HostScope>;
  enum class Flow : uint8_t { kNext, kBreak, kContinue, kReturn };
  using Arguments = std::vector<std::pair<std::string, HostValue>>;  // positional: empty name

  ErrorInfo fail(const dsl::Expr& at, std::string message, DiagKind kind = DiagKind::kHostCode);
  ErrorInfo fail_at(Span span, std::string message, DiagKind kind = DiagKind::kHostCode);
  // The result with the place of an error filled in.
  Result<HostValue> located(const dsl::Expr& at, Result<Constant> result);

  // host_eval.cpp
  Result<HostValue> eval(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_name(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_global(const dsl::Expr& expr);
  Result<HostValue> eval_attribute(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_sequence(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_dict(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_unary(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_binary(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> apply_binary(const dsl::Expr& at, dsl::Operator op, const HostValue& a,
                                 const HostValue& b);
  Result<HostValue> eval_bool(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_compare(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_subscript(const dsl::Expr& expr, const Scope& scope);
  Result<HostValue> eval_comprehension(const dsl::Expr& expr, const Scope& scope);
  Status run_clauses(const dsl::Expr& expr, size_t clause, const Scope& scope,
                     std::vector<HostValue>& out);
  Result<HostValue> eval_format(const dsl::Expr& expr, const Scope& scope);
  Result<bool> truth(const HostValue& value, const dsl::Expr& at);
  Result<std::vector<HostValue>> iterate(const HostValue& value, const dsl::Expr& at);

  // host_call.cpp
  Result<HostValue> eval_call(const dsl::Expr& expr, const Scope& scope);
  Result<Arguments> eval_arguments(const dsl::Expr& call, const Scope& scope);
  Result<HostValue> call_value(const HostValue& callee, Arguments arguments, const dsl::Expr& at);
  Result<HostValue> call_method(const HostValue& object, std::string_view method,
                                Arguments& arguments, const dsl::Expr& at);
  Result<HostValue> call_library(std::string_view path, Arguments& arguments, const dsl::Expr& at);
  Result<HostValue> call_number(std::string_view name, const Arguments& arguments,
                                const dsl::Expr& at);
  Result<HostValue> call_sequence(std::string_view name, const Arguments& arguments,
                                  const dsl::Expr& at);
  Result<HostValue> make_config(const Arguments& arguments, const dsl::Expr& at);

  // host_stmt.cpp
  Result<Flow> run(const std::vector<dsl::Stmt*>& body, const Scope& scope, HostValue& result);
  Result<Flow> run(const dsl::Stmt& stmt, const Scope& scope, HostValue& result);
  Result<Flow> run_for(const dsl::Stmt& stmt, const Scope& scope, HostValue& result);
  Status assign(const dsl::Expr& target, const HostValue& value, const Scope& scope);

  const Program& program_;
  std::map<std::string, HostValue, std::less<>> globals_;
  std::vector<std::string> in_progress_;  // globals being evaluated
  int steps_ = 0;
  int depth_ = 0;
};

}  // namespace tilewright::frontend
