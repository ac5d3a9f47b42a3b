// Host calls: triton.Config, functions of the file, methods of containers, Python's and Triton's
// small functions.
#include <fmt/format.h>

#include <cmath>

#include "frontend/evaluate.h"
#include "frontend/fold.h"
#include "frontend/host_eval.h"

namespace tilewright::frontend {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Operator;
using Kind = HostValue::Kind;

namespace {

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

// Launch options of other vendors that configs carry along.
bool is_foreign_option(std::string_view name) {
  return name == "waves_per_eu" || name == "matrix_instr_nonkdim" || name == "kpack";
}

}  // namespace

Result<HostEvaluator::Arguments> HostEvaluator::eval_arguments(const Expr& call,
                                                               const Scope& scope) {
  Arguments arguments;
  for (size_t i = 1; i < call.children.size(); ++i) {
    const Expr& child = *call.children[i];
    bool starred = child.kind == ExprKind::kStarred, twice = child.kind == ExprKind::kDoubleStarred;
    TW_ASSIGN(HostValue value, eval(starred || twice ? *child.children[0] : child, scope));
    if (twice && value.kind != Kind::kDict) return fail(child, "'**' needs a dict");
    if (twice) {
      for (size_t k = 0; k < value.items->size(); k += 2)
        arguments.emplace_back((*value.items)[k].constant.text, (*value.items)[k + 1]);
    } else if (starred) {
      TW_ASSIGN(std::vector<HostValue> items, iterate(value, child));
      for (HostValue& item : items) arguments.emplace_back("", std::move(item));
    } else {
      arguments.emplace_back("", std::move(value));
    }
  }
  for (const dsl::Keyword& keyword : call.keywords) {
    // Hooks are the host's business; a config is the same without.
    if (keyword.name == "pre_hook" || keyword.name == "post_hook") continue;
    TW_ASSIGN(HostValue value, eval(*keyword.value, scope));
    arguments.emplace_back(keyword.name, std::move(value));
  }
  return arguments;
}

Result<HostValue> HostEvaluator::eval_call(const Expr& expr, const Scope& scope) {
  const Expr& callee = *expr.children[0];
  TW_ASSIGN(Arguments arguments, eval_arguments(expr, scope));
  if (callee.kind == ExprKind::kAttribute) {
    TW_ASSIGN(HostValue object, eval(*callee.children[0], scope));
    if (object.kind != Kind::kModule) return call_method(object, callee.text, arguments, expr);
  }
  TW_ASSIGN(HostValue function, eval(callee, scope));
  return call_value(function, std::move(arguments), expr);
}

Result<HostValue> HostEvaluator::call_function(const HostValue& function,
                                               std::vector<HostValue> arguments,
                                               const Expr& where) {
  Arguments list;
  for (HostValue& argument : arguments) list.emplace_back("", std::move(argument));
  return call_value(function, std::move(list), where);
}

Result<HostValue> HostEvaluator::call_value(const HostValue& callee, Arguments arguments,
                                            const Expr& at) {
  if (callee.kind == Kind::kModule) return call_library(callee.text, arguments, at);
  if (callee.kind != Kind::kFunction) return fail(at, "this is no function of the host");
  if (depth_ >= kMaxDepth) return fail(at, "host functions call each other too deeply");
  const auto& params = callee.function ? callee.function->params : callee.lambda->params;
  auto scope = std::make_shared<HostScope>();
  scope->outer = callee.closure;
  size_t position = 0;
  for (auto& [name, value] : arguments) {
    if (name.empty() && position >= params.size()) return fail(at, "too many arguments");
    const std::string& target = name.empty() ? params[position++].name : name;
    scope->names[target] = std::move(value);
  }
  for (const dsl::Param& param : params) {
    if (param.kind == dsl::Param::Kind::kVarArgs || param.kind == dsl::Param::Kind::kVarKeywords)
      return fail_at(param.span, "'*' and '**' parameters are not evaluated on the host");
    if (scope->names.contains(param.name)) continue;
    if (!param.default_value) return fail(at, fmt::format("the call gives no '{}'", param.name));
    TW_ASSIGN(scope->names[param.name], eval(*param.default_value, std::make_shared<HostScope>()));
  }
  ++depth_;
  HostValue result;
  Status status;
  if (callee.lambda) {
    auto value = eval(*callee.lambda->children[0], scope);
    if (value)
      result = std::move(*value);
    else
      status = value.error();
  } else if (auto flow = run(callee.function->body, scope, result); !flow) {
    status = flow.error();
  }
  --depth_;
  TW_TRY(status);
  return result;
}

Result<HostValue> HostEvaluator::call_method(const HostValue& object, std::string_view method,
                                             Arguments& arguments, const Expr& at) {
  size_t count = arguments.size();
  if (object.kind == Kind::kList) {
    auto& items = *object.items;
    if (method == "append" && count == 1) {
      items.push_back(arguments[0].second);
      return HostValue();
    }
    if (method == "extend" && count == 1) {
      TW_ASSIGN(std::vector<HostValue> more, iterate(arguments[0].second, at));
      items.insert(items.end(), more.begin(), more.end());
      return HostValue();
    }
    if (method == "copy" && count == 0) return HostValue::list(items);
  }
  if (object.kind == Kind::kDict) {
    auto& items = *object.items;
    if (method == "copy" && count == 0) return HostValue::dict(items);
    if (method == "get" && (count == 1 || count == 2)) {
      auto key = to_constant(arguments[0].second);
      for (size_t i = 0; key && i < items.size(); i += 2)
        if (to_constant(items[i]) == key) return items[i + 1];
      return count == 2 ? arguments[1].second : HostValue();
    }
    std::vector<HostValue> out;
    for (size_t i = 0; i < items.size(); i += 2) {
      if (method == "keys") out.push_back(items[i]);
      if (method == "values") out.push_back(items[i + 1]);
      if (method == "items") out.push_back(HostValue::list({items[i], items[i + 1]}));
    }
    if (method == "keys" || method == "values" || method == "items")
      return HostValue::list(std::move(out));
  }
  if (object.kind == Kind::kConstant && object.constant.kind == Constant::Kind::kString &&
      count == 0 && (method == "lower" || method == "upper")) {
    std::string text = object.constant.text;
    for (char& c : text) {
      if (method == "lower" && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
      if (method == "upper" && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    }
    return HostValue::of(Constant::string(std::move(text)));
  }
  if (object.kind == Kind::kArgument)
    return fail(at, fmt::format("'{}()' of the argument '{}' is not known on the host side", method,
                                object.text));
  return fail(at, fmt::format("method '{}' is not evaluated on the host", method));
}

// A function outside of the file, by the last part of its name.
Result<HostValue> HostEvaluator::call_library(std::string_view path, Arguments& arguments,
                                              const Expr& at) {
  std::string_view name = last_name(path);
  if (name == "Config") return make_config(arguments, at);
  if (name == "print" || name == "warn" || name == "warning") return HostValue();
  if (path == "os.environ.get" || path == "os.getenv") {
    // The environment does not decide what a kernel is: the default counts.
    return arguments.size() == 2 ? arguments[1].second : HostValue();
  }
  if (auto fact = platform_fact(std::string(path) + "()")) return HostValue::of(std::move(*fact));
  if (name.starts_with("get_current_target")) return HostValue::module(std::string(path) + "()");
  for (const auto& [keyword, value] : arguments)
    if (!keyword.empty() && keyword != "repeat" && keyword != "reverse")
      return fail(
          at, fmt::format("'{}' with keyword '{}' is not evaluated on the host", path, keyword));
  if (name == "constexpr" && arguments.size() == 1) return arguments[0].second;
  bool is_sequence = !arguments.empty() && (arguments[0].second.kind == Kind::kList ||
                                            arguments[0].second.kind == Kind::kDict ||
                                            arguments[0].second.kind == Kind::kFunction);
  if (is_sequence || name == "range" || name == "list" || name == "tuple" || name == "dict")
    return call_sequence(name, arguments, at);
  return call_number(name, arguments, at);
}

Result<HostValue> HostEvaluator::call_number(std::string_view name, const Arguments& arguments,
                                             const Expr& at) {
  std::vector<Constant> args;
  for (const auto& [keyword, value] : arguments) {
    if (value.kind == Kind::kArgument)
      return fail(at, fmt::format("the value of the argument '{}' is not known on the host side",
                                  value.text));
    auto constant = to_constant(value);
    if (!constant) return fail(at, fmt::format("'{}' is not evaluated on the host", name));
    args.push_back(std::move(*constant));
  }
  if ((name == "min" || name == "max") && !args.empty()) {
    Constant best = args[0];
    for (const Constant& arg : args) {
      auto better = fold_binary(name == "min" ? Operator::kLt : Operator::kGt, arg, best);
      if (!better) return located(at, better);
      if (frontend::truth(*better)) best = arg;
    }
    return HostValue::of(std::move(best));
  }
  if (name == "cdiv" && args.size() == 2) {
    auto negated = fold_unary(Operator::kNeg, args[0]);
    if (!negated) return located(at, negated);
    auto quotient = fold_binary(Operator::kFloorDiv, *negated, args[1]);
    return located(at, quotient ? fold_unary(Operator::kNeg, *quotient) : quotient);
  }
  if (name == "pow" && args.size() == 2)
    return located(at, fold_binary(Operator::kPow, args[0], args[1]));
  if (args.size() != 1) return fail(at, fmt::format("'{}' is not evaluated on the host", name));
  const Constant& x = args[0];
  if (name == "str" || name == "repr")
    return HostValue::of(
        Constant::string(x.kind == Constant::Kind::kString ? x.text : to_string(x)));
  if (name == "bool") return HostValue::of(Constant::boolean(frontend::truth(x)));
  if (name == "len" && x.kind == Constant::Kind::kString)
    return HostValue::of(Constant::integer_of(static_cast<int64_t>(x.text.size())));
  if (name == "float" && x.kind == Constant::Kind::kString)
    return located(at, float_of_text(x.text));
  if (!is_number(x)) return fail(at, fmt::format("'{}' takes a number", name));
  double real = as_double(x);
  bool fits = std::fabs(real) < 0x1p62;
  if (name == "next_power_of_2" && is_integer(x) && fits) {
    int64_t power = 1;
    while (power < x.integer) power *= 2;
    return HostValue::of(Constant::integer_of(power));
  }
  if (name == "float") return HostValue::of(Constant::real(real));
  if (name == "int" && is_integer(x)) return HostValue::of(Constant::integer_of(x.integer));
  if ((name == "int" || name == "trunc") && fits)
    return HostValue::of(Constant::integer_of(static_cast<int64_t>(real)));
  if (name == "ceil" && fits)
    return HostValue::of(Constant::integer_of(static_cast<int64_t>(std::ceil(real))));
  if (name == "floor" && fits)
    return HostValue::of(Constant::integer_of(static_cast<int64_t>(std::floor(real))));
  if (name == "log2" && real > 0) return HostValue::of(Constant::real(std::log2(real)));
  if (name == "log" && real > 0) return HostValue::of(Constant::real(std::log(real)));
  if (name == "exp") return HostValue::of(Constant::real(std::exp(real)));
  if (name == "sqrt" && real >= 0) return HostValue::of(Constant::real(std::sqrt(real)));
  if (name == "abs" && std::signbit(is_integer(x) ? (x.is_unsigned ? 0.0 : real) : real))
    return located(at, fold_unary(Operator::kNeg, x));
  if (name == "abs") return HostValue::of(x);
  return fail(at, fmt::format("'{}' is not evaluated on the host", name));
}

namespace {

// All combinations, the last list fastest (itertools.product).
std::vector<HostValue> product(const std::vector<std::vector<HostValue>>& lists) {
  std::vector<std::vector<HostValue>> rows{{}};
  for (const auto& list : lists) {
    std::vector<std::vector<HostValue>> longer;
    for (const auto& row : rows)
      for (const HostValue& item : list) {
        longer.push_back(row);
        longer.back().push_back(item);
      }
    rows = std::move(longer);
  }
  std::vector<HostValue> out;
  for (auto& row : rows) out.push_back(HostValue::list(std::move(row)));
  return out;
}

}  // namespace

Result<HostValue> HostEvaluator::call_sequence(std::string_view name, const Arguments& arguments,
                                               const Expr& at) {
  constexpr int64_t kMaxItems = 100'000;
  if (name == "range") {
    int64_t bounds[3] = {0, 0, 1};
    if (arguments.empty() || arguments.size() > 3) return fail(at, "range takes 1 to 3 bounds");
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto bound = to_constant(arguments[i].second);
      if (!bound || !is_integer(*bound)) return fail(at, "range takes integers");
      bounds[arguments.size() == 1 ? 1 : i] = bound->integer;
    }
    auto [from, to, step] = bounds;
    if (step == 0) return fail(at, "range has a step of zero");
    std::vector<HostValue> out;
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step) {
      if (out.size() >= kMaxItems) return fail(at, "this range is too long to be evaluated");
      out.push_back(HostValue::of(Constant::integer_of(i)));
    }
    return HostValue::list(std::move(out));
  }
  std::vector<std::vector<HostValue>> lists;
  bool first_is_function = !arguments.empty() && arguments[0].second.kind == Kind::kFunction;
  size_t product_size = 1;
  for (size_t i = first_is_function ? 1 : 0; i < arguments.size(); ++i) {
    if (!arguments[i].first.empty())
      return fail(at, fmt::format("'{}' with keywords is not evaluated on the host", name));
    TW_ASSIGN(std::vector<HostValue> list, iterate(arguments[i].second, at));
    product_size *= std::max<size_t>(list.size(), 1);
    if (product_size > kMaxItems) return fail(at, "this is too long to be evaluated");
    lists.push_back(std::move(list));
  }
  std::vector<HostValue> out;
  if (first_is_function && (name == "filter" || name == "map") && lists.size() == 1) {
    for (HostValue& item : lists[0]) {
      TW_ASSIGN(HostValue value, call_function(arguments[0].second, {item}, at));
      if (name == "map") {
        out.push_back(std::move(value));
        continue;
      }
      TW_ASSIGN(bool holds, truth(value, at));
      if (holds) out.push_back(std::move(item));
    }
    return HostValue::list(std::move(out));
  }
  if (first_is_function) return fail(at, fmt::format("'{}' is not evaluated on the host", name));
  if (name == "product") return HostValue::list(product(lists));
  if (name == "zip") {
    size_t shortest = lists.empty() ? 0 : lists[0].size();
    for (const auto& list : lists) shortest = std::min(shortest, list.size());
    for (size_t i = 0; i < shortest; ++i) {
      std::vector<HostValue> row;
      for (auto& list : lists) row.push_back(list[i]);
      out.push_back(HostValue::list(std::move(row)));
    }
    return HostValue::list(std::move(out));
  }
  if (lists.size() > 1) return fail(at, fmt::format("'{}' is not evaluated on the host", name));
  if (name == "dict" && (lists.empty() || arguments[0].second.kind == Kind::kDict))
    return HostValue::dict(lists.empty() ? std::vector<HostValue>{} : *arguments[0].second.items);
  if (lists.empty()) lists.emplace_back();
  std::vector<HostValue>& items = lists[0];
  if (name == "list" || name == "tuple") return HostValue::list(std::move(items));
  if (name == "reversed") return HostValue::list({items.rbegin(), items.rend()});
  if (name == "len") return HostValue::of(Constant::integer_of(static_cast<int64_t>(items.size())));
  if (name == "enumerate") {
    for (size_t i = 0; i < items.size(); ++i)
      out.push_back(HostValue::list(
          {HostValue::of(Constant::integer_of(static_cast<int64_t>(i))), std::move(items[i])}));
    return HostValue::list(std::move(out));
  }
  if (name == "any" || name == "all") {
    for (const HostValue& item : items) {
      TW_ASSIGN(bool holds, truth(item, at));
      if (holds == (name == "any")) return HostValue::of(Constant::boolean(holds));
    }
    return HostValue::of(Constant::boolean(name == "all"));
  }
  if (name == "sum") {
    HostValue total = HostValue::of(Constant::integer_of(0));
    for (const HostValue& item : items) {
      TW_ASSIGN(total, apply_binary(at, Operator::kAdd, total, item));
    }
    return total;
  }
  if (name == "min" || name == "max") {
    Arguments flat;
    for (HostValue& item : items) flat.emplace_back("", std::move(item));
    return call_number(name, flat, at);
  }
  return fail(at, fmt::format("'{}' is not evaluated on the host", name));
}

// triton.Config(kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None)
Result<HostValue> HostEvaluator::make_config(const Arguments& arguments, const Expr& at) {
  constexpr std::string_view kNames[] = {"kwargs",   "num_warps", "num_stages",
                                         "num_ctas", "maxnreg",   "pre_hook"};
  HostValue value;
  value.kind = Kind::kConfig;
  value.config = std::make_shared<DecoratorConfig>();
  DecoratorConfig& config = *value.config;
  auto set_option = [&](std::string_view name, const HostValue& given) -> Result<bool> {
    if (name != "num_warps" && name != "num_stages" && name != "maxnreg" && name != "num_ctas")
      return false;
    auto number = to_constant(given);
    if (number && number->kind == Constant::Kind::kNone) return true;
    if (!number || !is_integer(*number) || number->integer < 0 || number->integer > 1024)
      return fail(at, fmt::format("{} of a config must be a small integer", name),
                  DiagKind::kBadArgument);
    int n = static_cast<int>(number->integer);
    if (name == "num_warps") config.num_warps = n;
    if (name == "num_stages") config.num_stages = n;
    if (name == "maxnreg") config.maxnreg = n;
    if (name == "num_ctas" && n != 1)
      return fail(at, "configs with num_ctas above 1 are not supported");
    return true;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto& [keyword, given] = arguments[i];
    std::string_view name = keyword;
    if (name.empty() && i < std::size(kNames)) name = kNames[i];
    if (name != "kwargs") {
      TW_ASSIGN([[maybe_unused]] bool known, set_option(name, given));
      continue;
    }
    if (given.kind != Kind::kDict)
      return fail(at, "the first argument of a config must be a dict", DiagKind::kBadArgument);
    for (size_t k = 0; k < given.items->size(); k += 2) {
      const std::string& key = (*given.items)[k].constant.text;
      const HostValue& item = (*given.items)[k + 1];
      TW_ASSIGN(bool is_option, set_option(key, item));
      if (is_option || is_foreign_option(key)) continue;
      auto constant = to_constant(item);
      if (!constant)
        return fail(at, fmt::format("the value of '{}' is not evaluated on the host", key));
      config.constants[key] = std::move(*constant);
    }
  }
  return value;
}

}  // namespace tilewright::frontend
