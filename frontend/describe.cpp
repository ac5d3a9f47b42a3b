// What a kernel's signature and decorators say before any specialisation.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/parser.h"
#include "frontend/decorators.h"
#include "frontend/host_eval.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;

std::string_view last_name(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 is 0
}

// `tl.constexpr`, `constexpr`, "tl.constexpr", and these inside `X | None` or `Optional[X]`.
bool is_constexpr_annotation(const Expr* annotation) {
  if (annotation == nullptr) return false;
  switch (annotation->kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
      return annotation->text == "constexpr";
    case ExprKind::kString:
      return last_name(annotation->text).starts_with("constexpr");
    case ExprKind::kSubscript:
    case ExprKind::kBinary:
      return std::ranges::any_of(annotation->children, is_constexpr_annotation);
    default:
      return false;
  }
}

// Triton's names of types in annotations that are no dtype names of ours.
std::optional<Dtype> parse_annotated_dtype(std::string_view name) {
  if (name == "int") return Dtype::kI32;
  if (name == "float") return Dtype::kF32;
  if (name == "double") return Dtype::kF64;
  if (name == "half") return Dtype::kF16;
  if (name == "u1" || name == "uint1") return Dtype::kI1;
  return parse_dtype(name);
}

// `tl.int64`, 'i32', '*fp16', "tl.int64*", '*const'-prefixed ones, int, float, bool.
std::optional<ir::Type> annotated_type(const Expr* annotation) {
  if (annotation == nullptr) return std::nullopt;
  if (annotation->kind == ExprKind::kName || annotation->kind == ExprKind::kAttribute) {
    auto dtype = parse_annotated_dtype(annotation->text);
    return dtype ? std::optional(ir::Type::scalar(*dtype)) : std::nullopt;
  }
  if (annotation->kind != ExprKind::kString) return std::nullopt;
  std::string_view text = annotation->text;
  if (text.starts_with("const ")) text.remove_prefix(6);
  bool is_pointer = text.starts_with('*') || text.ends_with('*');
  if (text.starts_with('*')) text.remove_prefix(1);
  if (text.ends_with('*')) text.remove_suffix(1);
  if (is_pointer && text.starts_with('k')) text.remove_prefix(1);  // *kfp16: pointer to const
  auto dtype = parse_annotated_dtype(last_name(text));
  if (!dtype) return std::nullopt;
  return is_pointer ? ir::Type::pointer(*dtype) : ir::Type::scalar(*dtype);
}

// The names in a list of names and parameter indices, or in one name.
Result<std::vector<std::string>> names_of(HostEvaluator& host, const Expr& expr,
                                          const dsl::Stmt& kernel, std::string_view what) {
  TW_ASSIGN(HostValue value, host.eval(expr));
  auto constant = to_constant(value);
  std::vector<Constant> items;
  if (constant && constant->kind == Constant::Kind::kTuple)
    items = constant->elements;
  else if (constant && constant->kind != Constant::Kind::kNone)
    items = {*constant};
  std::vector<std::string> names;
  for (const Constant& item : items) {
    bool is_index = item.kind == Constant::Kind::kInt && item.integer >= 0 &&
                    item.integer < static_cast<int64_t>(kernel.params.size());
    if (is_index)
      names.push_back(kernel.params[static_cast<size_t>(item.integer)].name);
    else if (item.kind == Constant::Kind::kString)
      names.push_back(item.text);
    else
      return make_error(DiagKind::kBadArgument,
                        fmt::format("{} of '{}' must hold names or indices of parameters, not {}",
                                    what, kernel.name, to_string(item)));
  }
  return names;
}

const Expr* argument(const Decorator& decorator, size_t position, std::string_view keyword) {
  if (decorator.call == nullptr) return nullptr;
  for (const dsl::Keyword& k : decorator.call->keywords)
    if (k.name == keyword) return k.value;
  const auto& children = decorator.call->children;
  return position + 1 < children.size() ? children[position + 1] : nullptr;
}

Status describe_jit(HostEvaluator& host, const Decorator& decorator, const dsl::Stmt& kernel,
                    KernelInfo& info) {
  constexpr size_t kKeywordOnly = 1000;
  auto clear = [&](std::string_view keyword, bool ParamInfo::*flag) -> Status {
    const Expr* list = argument(decorator, kKeywordOnly, keyword);
    if (list == nullptr) return {};
    TW_ASSIGN(std::vector<std::string> names, names_of(host, *list, kernel, keyword));
    for (ParamInfo& param : info.params)
      if (std::ranges::find(names, param.name) != names.end()) param.*flag = false;
    return {};
  };
  TW_TRY(clear("do_not_specialize", &ParamInfo::specialize));
  TW_TRY(clear("do_not_specialize_on_alignment", &ParamInfo::specialize_alignment));
  return {};
}

Result<std::vector<DecoratorConfig>> evaluate_configs(HostEvaluator& host, const Expr& expr,
                                                      const KernelInfo& info) {
  TW_ASSIGN(HostValue value, host.eval(expr));
  if (value.kind != HostValue::Kind::kList)
    return make_error(DiagKind::kHostCode,
                      fmt::format("the configs of '{}' are no list", info.name));
  std::vector<DecoratorConfig> configs;
  for (const HostValue& item : *value.items) {
    if (item.kind != HostValue::Kind::kConfig)
      return make_error(DiagKind::kHostCode, fmt::format("the configs of '{}' hold something that "
                                                         "is no triton.Config",
                                                         info.name));
    configs.push_back(*item.config);
    // Entries that are no parameters steer other vendors' compilers.
    std::erase_if(configs.back().constants, [&](const auto& entry) {
      return std::ranges::none_of(info.params,
                                  [&](const ParamInfo& p) { return p.name == entry.first; });
    });
  }
  return configs;
}

Status describe_autotune(HostEvaluator& host, const Decorator& decorator, const dsl::Stmt& kernel,
                         KernelInfo& info) {
  if (const Expr* configs = argument(decorator, 0, "configs")) {
    auto evaluated = evaluate_configs(host, *configs, info);
    if (evaluated)
      info.configs = std::move(*evaluated);
    else
      info.configs_error = evaluated.error().text();
  }
  auto names = [&](size_t position, std::string_view keyword,
                   std::vector<std::string>& out) -> Status {
    const Expr* list = argument(decorator, position, keyword);
    if (list == nullptr) return {};
    TW_ASSIGN(out, names_of(host, *list, kernel, keyword));
    return {};
  };
  constexpr size_t kKeywordOnly = 1000;
  TW_TRY(names(1, "key", info.autotune_key));
  TW_TRY(names(kKeywordOnly, "reset_to_zero", info.reset_to_zero));
  TW_TRY(names(kKeywordOnly, "restore_value", info.restore_value));
  return {};
}

ParamInfo describe_param(HostEvaluator& host, const dsl::Param& param) {
  ParamInfo info;
  info.name = param.name;
  info.is_constexpr = is_constexpr_annotation(param.annotation);
  if (!info.is_constexpr) info.annotated_type = annotated_type(param.annotation);
  if (param.default_value == nullptr) return info;
  // A default that cannot be evaluated counts as none: the caller has to give a value.
  if (auto value = host.eval(*param.default_value)) info.default_value = to_constant(*value);
  return info;
}

}  // namespace

std::vector<Decorator> decorators_of(const dsl::Stmt& function) {
  std::vector<Decorator> out;
  for (const Expr* expr : function.decorators) {
    Decorator decorator;
    if (expr->kind == ExprKind::kCall) decorator.call = expr;
    const Expr* name = decorator.call ? expr->children[0] : expr;
    if (name->text == "jit") decorator.kind = Decorator::Kind::kJit;
    if (name->text == "heuristics") decorator.kind = Decorator::Kind::kHeuristics;
    // Libraries wrap triton.autotune under names of their own, with the same arguments.
    if (name->text.ends_with("autotune") || name->text == "libtuner")
      decorator.kind = Decorator::Kind::kAutotune;
    out.push_back(decorator);
  }
  return out;
}

const Expr* heuristics_dict(const Decorator& decorator) {
  return argument(decorator, 0, "values");
}

Result<const dsl::Stmt*> find_kernel(const Program& program, std::string_view name) {
  if (const dsl::Stmt* kernel = program.find(name)) return kernel;
  std::string known;
  for (const std::string& function : program.functions())
    known += (known.empty() ? "" : ", ") + function;
  return make_error(
      DiagKind::kNoKernel, fmt::format("there is no kernel '{}'", name),
      known.empty() ? "the file has no @triton.jit function" : "the file has " + known);
}

Result<KernelInfo> describe_kernel(const Program& program, std::string_view name) {
  TW_ASSIGN(const dsl::Stmt* kernel, find_kernel(program, name));
  HostEvaluator host(program);
  KernelInfo info;
  info.name = name;
  for (const dsl::Param& param : kernel->params) {
    bool is_pack =
        param.kind == dsl::Param::Kind::kVarArgs || param.kind == dsl::Param::Kind::kVarKeywords;
    if (!is_pack) info.params.push_back(describe_param(host, param));
  }
  for (const Decorator& decorator : decorators_of(*kernel)) {
    switch (decorator.kind) {
      case Decorator::Kind::kJit:
        TW_TRY(describe_jit(host, decorator, *kernel, info));
        break;
      case Decorator::Kind::kAutotune:
        TW_TRY(describe_autotune(host, decorator, *kernel, info));
        break;
      case Decorator::Kind::kHeuristics:
        if (const Expr* dict = heuristics_dict(decorator); dict && dict->kind == ExprKind::kDict)
          for (size_t i = 0; i < dict->children.size(); i += 2)
            info.heuristics.push_back(dict->children[i]->text);
        break;
      case Decorator::Kind::kOther:
        break;
    }
  }
  return info;
}

}  // namespace tilewright::frontend
