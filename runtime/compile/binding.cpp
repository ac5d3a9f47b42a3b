#include "runtime/compile/binding.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <optional>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::runtime {

using frontend::Argument;
using frontend::Constant;
using frontend::KernelInfo;
using frontend::ParamInfo;

std::string describe(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kNone:
      return "None";
    case Arg::Kind::kBool:
      return arg.bits ? "the boolean True" : "the boolean False";
    case Arg::Kind::kInt:
      return arg.is_unsigned ? fmt::format("the integer {}", arg.bits)
                             : fmt::format("the integer {}", static_cast<int64_t>(arg.bits));
    case Arg::Kind::kFloat:
      return fmt::format("the number {}", std::bit_cast<double>(arg.bits));
    case Arg::Kind::kPointer:
      return arg.has_dtype ? fmt::format("a pointer to {}", dtype_name(arg.dtype))
                           : "a pointer of unknown type";
  }
  TW_UNREACHABLE("unknown kind of argument");
}

std::optional<Arg> to_arg(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::kNone:
      return Arg::none();
    case Constant::Kind::kBool:
      return Arg::boolean(constant.integer != 0);
    case Constant::Kind::kInt:
      return constant.is_unsigned ? Arg::integer(static_cast<uint64_t>(constant.integer))
                                  : Arg::integer(constant.integer);
    case Constant::Kind::kFloat:
      return Arg::real(constant.number);
    default:
      return std::nullopt;
  }
}

namespace {

std::string describe_param(const ParamInfo& param) {
  if (param.is_constexpr) return fmt::format("{}: constexpr", param.name);
  if (param.annotated_type) return param.name + ": " + ir::to_string(*param.annotated_type);
  return param.name;
}

ErrorInfo bad_argument(const KernelInfo& info, const ParamInfo& param, std::string expected,
                       std::string given) {
  return make_error(DiagKind::kBadArgument,
                    fmt::format("parameter `{}` of kernel `{}` takes {}, but was given {}",
                                param.name, info.name, expected, given),
                    "the kernel is " + signature(info));
}

// A run-time value as a constant; pointers are none.
std::optional<Constant> as_constant(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kNone:
      return Constant::none();
    case Arg::Kind::kBool:
      return Constant::boolean(arg.bits != 0);
    case Arg::Kind::kInt: {
      Constant constant = Constant::integer_of(static_cast<int64_t>(arg.bits));
      constant.is_unsigned = arg.is_unsigned;
      return constant;
    }
    case Arg::Kind::kFloat:
      return Constant::real(std::bit_cast<double>(arg.bits));
    case Arg::Kind::kPointer:
      return std::nullopt;
  }
  TW_UNREACHABLE("unknown kind of argument");
}

Dtype integer_dtype(const Arg& arg) {
  if (arg.is_unsigned) return Dtype::kU64;
  auto value = static_cast<int64_t>(arg.bits);
  bool small =
      value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return small ? Dtype::kI32 : Dtype::kI64;
}

bool fits(const Arg& arg, Dtype dtype) {
  if (dtype_bits(dtype) == 64) return arg.is_unsigned ? !is_signed(dtype) : true;
  if (arg.is_unsigned) return false;
  return bits_to_int(int_to_bits(static_cast<int64_t>(arg.bits), dtype), dtype) ==
         static_cast<int64_t>(arg.bits);
}

void note_divisibility(Argument& out, uint64_t bits, const ParamInfo& param, bool is_pointer) {
  if (!param.specialize_alignment) return;
  if (is_pointer)
    out.divisibility = bits % 16 == 0 ? 16 : 1;
  else if (param.specialize)
    out.divisibility = frontend::divisibility_class(bits);
}

// The specialisation of a run-time parameter whose type its annotation fixes.
Result<Argument> annotated(const KernelInfo& info, const ParamInfo& param, const Arg& arg) {
  const ir::Type& type = *param.annotated_type;
  Argument out;
  out.name = param.name;
  out.type = type;
  bool is_integer = arg.kind == Arg::Kind::kInt || arg.kind == Arg::Kind::kBool;
  if (type.is_pointer) {
    bool same = arg.kind == Arg::Kind::kPointer && (!arg.has_dtype || arg.dtype == type.dtype);
    if (!same)
      return bad_argument(info, param, fmt::format("a pointer to {}", dtype_name(type.dtype)),
                          describe(arg));
    note_divisibility(out, arg.bits, param, true);
  } else if (is_float(type.dtype)) {
    if (!is_integer && arg.kind != Arg::Kind::kFloat)
      return bad_argument(info, param, fmt::format("a number ({})", dtype_name(type.dtype)),
                          describe(arg));
  } else {
    if (!is_integer || (type.dtype != Dtype::kI1 && !fits(arg, type.dtype)))
      return bad_argument(info, param, fmt::format("an integer ({})", dtype_name(type.dtype)),
                          describe(arg));
    if (type.dtype != Dtype::kI1) note_divisibility(out, arg.bits, param, false);
  }
  return out;
}

Result<Argument> specialize(const KernelInfo& info, const ParamInfo& param, const Arg& arg) {
  Argument out;
  out.name = param.name;
  if (arg.kind == Arg::Kind::kNone) {
    out.is_constant = true;
    return out;
  }
  if (param.annotated_type) return annotated(info, param, arg);
  switch (arg.kind) {
    case Arg::Kind::kBool:
      out.type = ir::Type::scalar(Dtype::kI1);
      break;
    case Arg::Kind::kInt:
      if (arg.bits == 1 && param.specialize) {
        out.is_constant = true;
        out.constant = Constant::integer_of(1);
        break;
      }
      out.type = ir::Type::scalar(integer_dtype(arg));
      note_divisibility(out, arg.bits, param, false);
      break;
    case Arg::Kind::kFloat:
      out.type = ir::Type::scalar(Dtype::kF32);
      break;
    case Arg::Kind::kPointer:
      if (!arg.has_dtype)
        return bad_argument(info, param, "a pointer of known type, since it has no annotation",
                            describe(arg));
      out.type = ir::Type::pointer(arg.dtype);
      note_divisibility(out, arg.bits, param, true);
      break;
    case Arg::Kind::kNone:
      break;
  }
  return out;
}

// Which value each parameter gets: an index into BoundCall::arguments, or a constant.
class Binder {
 public:
  Binder(const frontend::Program& program, const KernelInfo& info, const CallOptions& options)
      : program_(program), info_(info), options_(options), sources_(info.params.size()) {}

  Status place(std::span<const Arg> positional, std::span<const NamedArg> named);
  Result<BoundCall> finish();

 private:
  struct Source {
    bool given = false;
    uint16_t argument = 0;
    const Constant* constant = nullptr;
  };

  Status place_named(const NamedArg& named, uint16_t index);
  Status take_option(const NamedArg& named, int& option);
  Status run_heuristics();
  Status bind_param(size_t i);
  Status check_options() const;
  Result<Constant> constant_of(size_t i) const;

  const frontend::Program& program_;
  const KernelInfo& info_;
  CallOptions options_;
  std::vector<Source> sources_;  // by parameter
  std::map<std::string, Constant> computed_;
  BoundCall bound_;
};

Status Binder::take_option(const NamedArg& named, int& option) {
  std::optional<Arg> value = named.constant ? to_arg(*named.constant) : named.value;
  if (!value || value->kind != Arg::Kind::kInt || value->bits > 1024)
    return make_error(
        DiagKind::kBadLaunch,
        fmt::format("{} takes a small integer, but was given {}", named.name,
                    named.constant ? to_string(*named.constant) : describe(named.value)));
  option = static_cast<int>(value->bits);
  return {};
}

Status Binder::place_named(const NamedArg& named, uint16_t index) {
  for (size_t i = 0; i < info_.params.size(); ++i) {
    if (info_.params[i].name != named.name) continue;
    if (sources_[i].given)
      return make_error(
          DiagKind::kUnknownArgument,
          fmt::format("parameter `{}` of kernel `{}` is given twice", named.name, info_.name));
    sources_[i] = {true, index, named.constant};
    return {};
  }
  if (named.name == "num_warps") return take_option(named, options_.num_warps);
  if (named.name == "num_stages") return take_option(named, options_.num_stages);
  if (named.name == "maxnreg") return take_option(named, options_.maxnreg);
  return make_error(DiagKind::kUnknownArgument,
                    fmt::format("kernel `{}` has no parameter `{}`", info_.name, named.name),
                    "the kernel is " + signature(info_));
}

Status Binder::place(std::span<const Arg> positional, std::span<const NamedArg> named) {
  for (const Arg& arg : positional) bound_.arguments.push_back(arg);
  for (const NamedArg& one : named) {
    auto index = static_cast<uint16_t>(bound_.arguments.size());
    std::optional<Arg> value = one.constant ? to_arg(*one.constant) : one.value;
    bound_.arguments.push_back(value.value_or(Arg::none()));
    TW_TRY(place_named(one, index));
  }
  size_t param = 0;
  for (size_t i = 0; i < positional.size(); ++i, ++param) {
    while (param < sources_.size() && sources_[param].given) ++param;
    if (param == sources_.size())
      return make_error(DiagKind::kUnknownArgument,
                        fmt::format("kernel `{}` takes {} arguments, but {} were given", info_.name,
                                    info_.params.size(), positional.size() + named.size()),
                        "the kernel is " + signature(info_));
    sources_[param] = {true, static_cast<uint16_t>(i), nullptr};
  }
  return {};
}

// The value of parameter i where it is, or can be, a constant.
Result<Constant> Binder::constant_of(size_t i) const {
  const Source& source = sources_[i];
  if (source.constant) return *source.constant;
  const Arg& arg = bound_.arguments[source.argument];
  if (std::optional<Constant> constant = as_constant(arg)) return *constant;
  return bad_argument(info_, info_.params[i], "a constant", describe(arg));
}

Status Binder::run_heuristics() {
  if (info_.heuristics.empty()) return {};
  std::map<std::string, Constant> bound;
  for (size_t i = 0; i < info_.params.size(); ++i) {
    const ParamInfo& param = info_.params[i];
    if (!sources_[i].given) {
      if (param.default_value) bound[param.name] = *param.default_value;
    } else if (auto constant = constant_of(i)) {
      bound[param.name] = *constant;  // pointers have no value a heuristic could use
    }
  }
  TW_ASSIGN(computed_, frontend::evaluate_heuristics(program_, info_.name, bound));
  return {};
}

Status Binder::bind_param(size_t i) {
  const ParamInfo& param = info_.params[i];
  const Source& source = sources_[i];
  auto computed = computed_.find(param.name);
  if (computed != computed_.end()) {
    Argument out;
    out.name = param.name;
    out.is_constant = true;
    out.constant = computed->second;
    bound_.specialization.arguments.push_back(std::move(out));
    return {};
  }
  if (!source.given) {
    if (param.default_value) return {};  // the front end takes the default as a constant
    std::string hint = "the kernel is " + signature(info_);
    if (!info_.configs.empty())
      hint += fmt::format("; its decorator lists {} configs, which the tuner chooses from",
                          info_.configs.size());
    return make_error(DiagKind::kMissingArgument,
                      fmt::format("kernel `{}` needs a value for its {}parameter `{}`", info_.name,
                                  param.is_constexpr ? "constexpr " : "", param.name),
                      hint);
  }
  const Arg& arg = bound_.arguments[source.argument];
  bool only_constant = source.constant && !to_arg(*source.constant);
  if (param.is_constexpr || only_constant) {
    if (!param.is_constexpr)
      return bad_argument(info_, param, "a run-time value", to_string(*source.constant));
    Argument out;
    out.name = param.name;
    out.is_constant = true;
    TW_ASSIGN(out.constant, constant_of(i));
    bound_.specialization.arguments.push_back(std::move(out));
    return {};
  }
  TW_ASSIGN(Argument out, specialize(info_, param, arg));
  if (!out.is_constant) {
    SlotPlan plan;
    plan.argument = source.argument;
    plan.is_float = !out.type.is_pointer && is_float(out.type.dtype);
    plan.is_bool = !out.type.is_pointer && out.type.dtype == Dtype::kI1;
    plan.dtype = out.type.dtype;
    bound_.slots.push_back(plan);
  }
  bound_.specialization.arguments.push_back(std::move(out));
  return {};
}

Status Binder::check_options() const {
  int warps = options_.num_warps;
  if (warps != 0 && (warps < 0 || warps > 32 || (warps & (warps - 1)) != 0))
    return make_error(DiagKind::kBadLaunch,
                      fmt::format("num_warps is {}, but must be a power of two up to 32", warps));
  if (options_.num_stages < 0 || options_.num_stages > 32)
    return make_error(DiagKind::kBadLaunch,
                      fmt::format("num_stages is {}, but must be 1 to 32", options_.num_stages));
  if (options_.maxnreg < 0 || options_.maxnreg > 255)
    return make_error(DiagKind::kBadLaunch,
                      fmt::format("maxnreg is {}, but must be 1 to 255", options_.maxnreg));
  return {};
}

Result<BoundCall> Binder::finish() {
  TW_TRY(check_options());
  TW_TRY(run_heuristics());
  for (size_t i = 0; i < info_.params.size(); ++i) TW_TRY(bind_param(i));
  frontend::Specialization& s = bound_.specialization;
  if (options_.num_warps != 0) s.num_warps = options_.num_warps;
  if (options_.num_stages != 0) s.num_stages = options_.num_stages;
  s.fp_fusion = options_.fp_fusion;
  s.debug = options_.debug;
  s.maxnreg = options_.maxnreg;
  return std::move(bound_);
}

}  // namespace

std::string signature(const KernelInfo& info) {
  std::string text = info.name + "(";
  for (size_t i = 0; i < info.params.size(); ++i)
    text += (i ? ", " : "") + describe_param(info.params[i]);
  return text + ")";
}

Result<BoundCall> bind_call(const frontend::Program& program, const KernelInfo& info,
                            std::span<const Arg> positional, std::span<const NamedArg> named,
                            const CallOptions& options) {
  Binder binder(program, info, options);
  TW_TRY(binder.place(positional, named));
  return binder.finish();
}

uint64_t slot_bits(const SlotPlan& plan, const Arg& arg) {
  if (plan.is_bool) return arg.bits != 0;
  if (!plan.is_float) return arg.bits;
  double value = arg.kind == Arg::Kind::kFloat ? std::bit_cast<double>(arg.bits)
                 : arg.is_unsigned             ? static_cast<double>(arg.bits)
                                   : static_cast<double>(static_cast<int64_t>(arg.bits));
  if (plan.dtype == Dtype::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return float_to_bits(value, plan.dtype);
}

}  // namespace tilewright::runtime
