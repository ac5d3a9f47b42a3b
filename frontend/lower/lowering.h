// The state of one lowering and the operations that every part of it uses. One object lowers one
// kernel for one specialisation; user mistakes go to its sink and yield Value::error(), on which
// every operation is silent, so one run reports several independent mistakes.
//
//   lower.cpp      the kernel: parameters, body, result      globals.cpp   names of the file
//   stmt.cpp       statements        branch.cpp  if, return  loop.cpp      for, while
//   expr.cpp       expressions       attribute.cpp           call.cpp      calls and inlining
//   convert.cpp    constants to tensors, casts, broadcasting
//   arith.cpp      operators with Triton's promotion         builtins_*.cpp  one handler a builtin
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <tuple>

#include "codegen/ir/builder.h"
#include "frontend/lower/scope.h"

namespace tilewright::frontend {

// The names at module level of one file: the user's or the library's.
struct FileScope {
  const dsl::Ast* ast = nullptr;
  const Program* program = nullptr;  // null for the library
  std::map<std::string, Value, std::less<>> cache;
  std::set<std::string, std::less<>> in_progress;
};

// One function being expanded.
struct Frame {
  const dsl::Stmt* function = nullptr;
  FileScope* file = nullptr;
  Scope scope;
  Span call_span;  // where the caller calls it, already shown in the user's file
  Span pinned;     // valid inside the library: everything is shown at the user's call
  Frame* caller = nullptr;
  bool is_kernel = false;
  int loop_depth = 0;
  bool return_seen = false;  // a return was reached where only a try is being made
};

// An argument list before and after binding.
struct CallArgument {
  Value value;
  Span span;
};
struct CallArguments {
  std::vector<CallArgument> positional;
  std::vector<std::pair<std::string, CallArgument>> keywords;
  std::vector<Span> keyword_spans;
};

// A call of a builtin with its arguments in parameter order.
struct Call {
  const Builtin* builtin = nullptr;
  Span span;                // of the whole call
  std::string name;         // as written: tl.load, .to, …
  std::vector<Value> args;  // parallel to builtin_params; variadic ones are tuples
  std::vector<Span> spans;  // of each argument, of the call when it has its default
  std::vector<bool> given;
};

struct LoweringLimits {
  int call_depth = 48;
  size_t ops = 400'000;
  size_t steps = 4'000'000;  // expressions evaluated
  int64_t unroll = 8192;     // iterations of one static_range
};

class Lowering {
 public:
  Lowering(const Program& program, const Specialization& specialization);

  // ---- diagnostics ----
  // Reports at `span` (once for the same text) and gives an error value. Notes lead through calls.
  Value fail(DiagKind kind, Span span, std::string message, std::vector<DiagNote> notes = {});
  // Where a span of the current file is shown: itself, or the call into the library.
  Span shown(Span span) const;
  DiagSink sink;

  // ---- expressions ----
  Value eval(const dsl::Expr* expr);
  Value eval_name(const dsl::Expr* expr);
  Value attribute(const Value& object, std::string_view name, Span span, Span name_span);
  // Whether `attribute` would succeed, without reporting or emitting anything that stays.
  bool has_attribute(const Value& object, std::string_view name);
  Value subscript(const dsl::Expr* expr);
  Value eval_call(const dsl::Expr* expr);
  // Calls a function value with evaluated arguments.
  Value call(const Value& callee, CallArguments arguments, Span span, std::string name);
  Value call_builtin(const Builtin& builtin, CallArguments arguments, Span span, std::string name);
  Value call_function(const Value& function, CallArguments arguments, Span span);
  // Calls a function of library.py.
  Value call_library(std::string_view function, std::vector<Value> arguments, Span span);
  std::optional<Call> bind_builtin(const Builtin& builtin, CallArguments arguments, Span span,
                                   std::string name);
  CallArguments eval_arguments(const dsl::Expr* call_expr, bool& ok);
  // A condition for if, while, ternary and assert: a constant's truth, or a scalar i1.
  struct Condition {
    bool ok = false;
    std::optional<bool> constant;
    ir::ValueId value;
  };
  Condition condition(const Value& value, Span span, std::string_view where);

  // ---- names ----
  Value global_name(FileScope& file, std::string_view name, Span span, bool& found);
  Value resolve_path(std::string_view dotted, Span span);
  // Binds a local name; numbers become tensors unless `keep_constants`.
  void bind_name(std::string_view name, Value value, Span span);
  void bind_target(const dsl::Expr* target, const Value& value, Span value_span);
  void set_name_hint(const Value& value, std::string_view name);

  // ---- statements ----
  // Runs the statements of a block. A return stops it and sets frame().return_seen; only a caller
  // that can start over (lower_if) lets that happen.
  void lower_block(const Statements& statements);
  // Runs a function body to its end in the current region; gives what it returns.
  struct Continuation {
    const Statements* statements;
    size_t index;
    const Continuation* next;
  };
  struct Returned {
    Value value;
    Span span;
  };
  Returned lower_to_return(const Continuation& at);

  // ---- tensors ----
  ir::ValueId emit(ir::Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs = {});
  ir::ValueId emit_as(ir::Op op, ir::Type type, std::vector<ir::ValueId> operands,
                      ir::Attrs attrs = {});
  Value emit_value(ir::Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs = {});
  Value emit_value_as(ir::Op op, ir::Type type, std::vector<ir::ValueId> operands,
                      ir::Attrs attrs = {});
  Value wrap(ir::ValueId id) { return Value::tensor(id, module.type(id)); }
  // A number as a constant of the type (scalar or tile). Out of range or fractional for an integer
  // type is reported.
  Value constant_of(const Constant& number, const ir::Type& type, Span span);
  // A tensor, or a constant number as a scalar by Triton's rule for Python numbers.
  Value to_tensor(const Value& value, Span span, std::string_view what = "operand");
  // The type to_tensor gives to a number.
  Dtype number_dtype(const Constant& number) const;
  // Value conversion without complaint for numbers and addresses; tensor must be a tensor.
  ir::ValueId cast(ir::ValueId value, Dtype dtype, std::string_view rounding = "");
  Value cast(const Value& tensor, Dtype dtype);
  // Scalars splat, unit dimensions stretch, missing leading dimensions are added.
  Value broadcast_to(const Value& tensor, const ir::Shape& shape, Span span);
  bool broadcast_pair(Value& a, Value& b, Span span);
  std::optional<ir::Shape> common_shape(const ir::Shape& a, const ir::Shape& b) const;
  // Checks extents of a new tile; reports and gives false.
  bool check_shape(const ir::Shape& shape, Span span);

  // ---- operators ----
  Value binary(dsl::Operator op, const Value& a, const Value& b, Span span, Span a_span,
               Span b_span);
  Value compare(dsl::Operator op, const Value& a, const Value& b, Span span, Span a_span,
                Span b_span);
  Value unary(dsl::Operator op, const Value& x, Span span);
  // Brings two operands to Triton's common type and shape.
  bool promote_pair(Value& a, Value& b, Span span, Span a_span, Span b_span, bool div_or_mod,
                    std::string_view op);

  // ---- arguments of builtins ----
  std::optional<int64_t> constant_int(const Call& call, size_t index);
  std::optional<bool> constant_bool(const Call& call, size_t index);
  std::optional<std::string> constant_string(const Call& call, size_t index);
  std::optional<ir::Shape> constant_shape(const Call& call, size_t index);
  // One integer or a tuple of them, for axes, orders and hints.
  std::optional<std::vector<int64_t>> constant_ints(const Call& call, size_t index);
  std::optional<ir::Type> type_argument(const Call& call, size_t index);
  Value tensor_argument(const Call& call, size_t index);
  // An axis in [-rank, rank), made non-negative.
  std::optional<int64_t> axis_argument(const Call& call, size_t index, int rank);
  Value not_constexpr(const Call& call, size_t index, std::string_view wanted);

  Frame& frame() { return *frame_; }
  const Specialization& specialization;
  const Program& program;
  ir::Module module;
  ir::Builder builder;
  LoweringLimits limits;

  // Runs `body` with another frame, region or span on top, and restores.
  template <class F>
  auto in_region(ir::RegionId region, F&& body) {
    ir::RegionId saved = builder.region();
    builder.set_region(region);
    struct Restore {
      ir::Builder& builder;
      ir::RegionId region;
      ~Restore() { builder.set_region(region); }
    } restore{builder, saved};
    return body();
  }

  // ---- entry (lower.cpp) ----
  Result<ir::Module> run(std::string_view kernel);

  // ---- control flow (branch.cpp, loop.cpp) ----
  void lower_statement(const dsl::Stmt* stmt);
  // False, with nothing changed, if a branch returns.
  bool lower_if(const dsl::Stmt* stmt, const Condition& condition);
  Returned lower_if_to_return(const dsl::Stmt* stmt, const Condition& condition,
                              const Continuation& rest);
  void lower_for(const dsl::Stmt* stmt);
  void lower_while(const dsl::Stmt* stmt);
  // Merges two values at the end of two regions; appends what must be passed out to the lists.
  // False when they cannot be one value.
  bool merge(Value& out, const Value& a, const Value& b, ir::RegionId region_a,
             ir::RegionId region_b, std::vector<ir::ValueId>& yield_a,
             std::vector<ir::ValueId>& yield_b);
  // Appends the run-time parts of `value` if it has exactly the structure and types of `like`.
  bool collect_like(const Value& like, const Value& value, std::vector<ir::ValueId>& out) const;
  // Attaches finished regions to a new op at the current place and gives its results.
  std::vector<ir::ValueId> attach(ir::Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs,
                                  const std::vector<ir::Type>& types,
                                  std::vector<ir::RegionId> regions, Span span);

 private:
  friend struct FrameScope;
  bool bind_parameters(const dsl::Stmt* def);
  bool spend_step(Span span);
  FileScope& library();

  Frame* frame_ = nullptr;
  FileScope user_file_;
  FileScope library_file_;
  std::set<std::tuple<uint32_t, uint32_t, std::string>> reported_;
  size_t steps_ = 0;
  bool gave_up_ = false;
  bool quiet_ = false;  // has_attribute: nothing is reported
};

// Makes `frame` the current one for a C++ scope.
struct FrameScope {
  FrameScope(Lowering& lowering, Frame& frame) : lowering_(lowering), saved_(lowering.frame_) {
    lowering.frame_ = &frame;
  }
  ~FrameScope() { lowering_.frame_ = saved_; }
  FrameScope(const FrameScope&) = delete;

 private:
  Lowering& lowering_;
  Frame* saved_;
};

// Shows the ops built in a C++ scope at `span`.
struct SpanScope {
  SpanScope(Lowering& lowering, Span span)
      : builder_(lowering.builder), saved_(lowering.builder.span()) {
    builder_.set_span(lowering.shown(span));
  }
  ~SpanScope() { builder_.set_span(saved_); }
  SpanScope(const SpanScope&) = delete;

 private:
  ir::Builder& builder_;
  Span saved_;
};

// C's usual conversions of two integer types, without the promotion to int.
Dtype promote_integers(Dtype a, Dtype b);

// The handlers named in builtins.def.
#define TW_BUILTIN(name, parameters, handler, detail, doc) \
  Value lower_##handler(Lowering& lw, const Call& call);
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

}  // namespace tilewright::frontend
