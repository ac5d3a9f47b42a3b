// The entry of lowering: one kernel for one specialisation, from parameters to a verified module.
#include <fmt/format.h>

#include "dsl/base/check.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

Lowering::Lowering(const Program& program, const Specialization& specialization)
    : specialization(specialization), program(program), builder(module) {
  user_file_.ast = &program.ast();
  user_file_.program = &program;
}

Span Lowering::shown(Span span) const {
  return frame_ && frame_->pinned.valid() ? frame_->pinned : span;
}

Value Lowering::fail(DiagKind kind, Span span, std::string message, std::vector<DiagNote> notes) {
  if (quiet_) return Value::error();
  span = shown(span);
  // Unrolled loops and repeated calls would report one mistake many times.
  if (!reported_.emplace(span.begin, span.end, message).second) return Value::error();
  if (frame_ && frame_->pinned.valid()) notes.clear();
  for (const Frame* f = frame_; f && f->caller; f = f->caller)
    if (!f->pinned.valid())
      notes.push_back({f->call_span, fmt::format("in '{}', called from here", f->function->name)});
  sink.error(kind, span, std::move(message)).notes = std::move(notes);
  return Value::error();
}

namespace {

const Argument* find_argument(const Specialization& specialization, std::string_view name) {
  for (const Argument& argument : specialization.arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

}  // namespace

bool Lowering::bind_parameters(const dsl::Stmt* def) {
  for (const Argument& argument : specialization.arguments) {
    bool known = false;
    for (const dsl::Param& param : def->params) known |= param.name == argument.name;
    if (!known)
      fail(DiagKind::kUnexpectedArgument, def->name_span,
           fmt::format("kernel '{}' has no parameter '{}'", def->name, argument.name));
  }
  Scope bound;  // defaults do not see the other parameters
  for (const dsl::Param& param : def->params) {
    if (param.kind == dsl::Param::Kind::kVarArgs || param.kind == dsl::Param::Kind::kVarKeywords) {
      fail(DiagKind::kUnsupportedSyntax, param.span,
           "a kernel cannot take a variable number of arguments; name each parameter");
      continue;
    }
    const Argument* argument = find_argument(specialization, param.name);
    bool declared = is_constexpr_annotation(param.annotation);
    Value value;
    if (argument && argument->is_constant) {
      bool found = argument->constant.kind != Constant::Kind::kFunction;
      value = found ? Value::of(argument->constant)
                    : global_name(user_file_, argument->constant.text, param.span, found);
      if (!found)
        value =
            fail(DiagKind::kUnknownName, param.span,
                 fmt::format("parameter '{}' is to be the function '{}', which the program does "
                             "not have",
                             param.name, argument->constant.text));
    } else if (argument && declared) {
      fail(DiagKind::kNotConstexpr, param.span,
           fmt::format("parameter '{}' is constexpr and needs a value, but was given the type {}",
                       param.name, type_text(argument->type)));
    } else if (argument) {
      module.params.push_back({param.name, argument->divisibility});
      ir::ValueId id = module.add_region_arg(module.body, argument->type, param.name);
      value = Value::tensor(id, argument->type);
    } else if (param.default_value) {
      value = eval(param.default_value);
    } else {
      fail(DiagKind::kMissingArgument, param.span,
           fmt::format("kernel '{}' needs {} for its parameter '{}'", def->name,
                       declared ? "a constant" : "a type", param.name));
    }
    bound.names[param.name] = {std::move(value), param.span, declared, nullptr};
  }
  frame().scope = std::move(bound);
  return !sink.has_errors();
}

Result<ir::Module> Lowering::run(std::string_view kernel) {
  const dsl::Stmt* def = program.find(kernel);
  if (!def) {
    std::string names;
    for (const std::string& name : program.functions()) names += (names.empty() ? "" : ", ") + name;
    return make_error(DiagKind::kUnknownName, fmt::format("there is no kernel '{}'", kernel),
                      names.empty() ? "the file has no function under @triton.jit"
                                    : "the file's jit functions are: " + names);
  }
  module.name = def->name;
  module.attrs.set("num_warps", int64_t{specialization.num_warps});
  module.attrs.set("num_stages", int64_t{specialization.num_stages});
  if (specialization.maxnreg > 0) module.attrs.set("maxnreg", int64_t{specialization.maxnreg});
  if (!specialization.fp_fusion) module.attrs.set("fp_fusion", int64_t{0});
  module.body = module.add_region({});
  Frame frame;
  frame.function = def;
  frame.file = &user_file_;
  frame.is_kernel = true;
  FrameScope frame_scope(*this, frame);
  builder.set_region(module.body);
  builder.set_span(def->name_span);
  if (bind_parameters(def)) {
    lower_to_return({&def->body, 0, nullptr});
    builder.set_span(def->name_span);
    builder.make_op(ir::Op::Return, {}, {}, {});
  }
  if (sink.has_errors()) {
    sink.sort();
    const Diagnostic* first = nullptr;
    for (const Diagnostic& d : sink.all())
      if (!first && d.severity == Severity::kError) first = &d;
    ErrorInfo error = make_error(first->kind, first->message);
    error.details = render(sink, program.sources());
    return error;
  }
  module.compact();
  if (Status status = ir::verify(module); !status.ok()) {
    ErrorInfo error =
        make_error(DiagKind::kInternal, "lowering made ill-formed IR: " + status.error().message,
                   "please report this with the kernel's text");
    error.details = status.error().details;
    return error;
  }
  return std::move(module);
}

Result<ir::Module> lower(const Program& program, std::string_view kernel,
                         const Specialization& specialization) {
  return Lowering(program, specialization).run(kernel);
}

}  // namespace tilewright::frontend
