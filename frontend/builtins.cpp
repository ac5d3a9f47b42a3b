#include "frontend/builtins.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "dsl/base/check.h"
#include "frontend/spelling.h"

namespace tilewright::frontend {
namespace {

using Kind = Builtin::Kind;

constexpr Builtin kRows[] = {
#define TW_BUILTIN(name, parameters, handler, detail, doc) \
  {Kind::kLowered, name, parameters, #handler, detail, doc},
#define TW_LIBRARY(name, parameters, function, doc) \
  {Kind::kLibrary, name, parameters, #function, "", doc},
#define TW_ALIAS(name, target) {Kind::kAlias, name, "", target, "", ""},
#define TW_UNSUPPORTED(name, doc) {Kind::kUnsupported, name, "", "", "", doc},
#define TW_DIALECT(prefix, doc) {Kind::kDialect, prefix, "", "", "", doc},
#include "frontend/builtins.def"
#undef TW_BUILTIN
#undef TW_LIBRARY
#undef TW_ALIAS
#undef TW_UNSUPPORTED
#undef TW_DIALECT
};

const std::map<std::string_view, const Builtin*>& index_by_name() {
  static const auto index = [] {
    std::map<std::string_view, const Builtin*> out;
    for (const Builtin& row : kRows) {
      bool added = out.emplace(row.name, &row).second;
      TW_CHECK(added, "two builtins of one name: " + std::string(row.name));
    }
    return out;
  }();
  return index;
}

// The literals that builtins.def uses as defaults.
Constant parse_default(std::string_view text) {
  Constant out;
  if (text == "None") return out;
  if (text == "True" || text == "False") {
    out.kind = Constant::Kind::kBool;
    out.integer = text == "True";
  } else if (text == "()") {
    out.kind = Constant::Kind::kTuple;
  } else if (text.starts_with('\'')) {
    TW_CHECK(text.size() >= 2 && text.ends_with('\''), "bad default in builtins.def");
    out.kind = Constant::Kind::kString;
    out.text = text.substr(1, text.size() - 2);
  } else if (text.find('.') != text.npos) {
    out.kind = Constant::Kind::kFloat;
    std::from_chars(text.data(), text.data() + text.size(), out.number);
  } else {
    out.kind = Constant::Kind::kInt;
    auto end = std::from_chars(text.data(), text.data() + text.size(), out.integer).ptr;
    TW_CHECK(end == text.data() + text.size(), "bad default in builtins.def: " + std::string(text));
  }
  return out;
}

std::vector<BuiltinParam> parse_parameters(std::string_view text) {
  std::vector<BuiltinParam> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    BuiltinParam& param = out.emplace_back();
    param.variadic = word.starts_with('*');
    if (param.variadic) word.remove_prefix(1);
    size_t equals = word.find('=');
    param.name = word.substr(0, equals);
    if (equals != word.npos) param.default_value = parse_default(word.substr(equals + 1));
  }
  return out;
}

// Moves `old_prefix`(.rest) to `new_prefix`(.rest).
bool replace_prefix(std::string& name, std::string_view old_prefix, std::string_view new_prefix) {
  if (!name.starts_with(old_prefix)) return false;
  if (name.size() != old_prefix.size() && name[old_prefix.size()] != '.') return false;
  name.replace(0, old_prefix.size(), new_prefix);
  if (new_prefix.empty() && name.starts_with('.')) name.erase(0, 1);
  return true;
}

std::string_view module_of(std::string_view name) {
  size_t dot = name.rfind('.');
  return dot == name.npos ? std::string_view{} : name.substr(0, dot);
}

}  // namespace

std::span<const Builtin> all_builtins() {
  return kRows;
}

const Builtin* find_builtin(std::string_view name) {
  const auto& index = index_by_name();
  auto it = index.find(name);
  if (it == index.end() || it->second->kind == Kind::kDialect) return nullptr;
  if (it->second->kind != Kind::kAlias) return it->second;
  auto target = index.find(it->second->handler);
  TW_CHECK(target != index.end(), "alias of a missing row: " + std::string(name));
  return target->second->kind == Kind::kAlias ? find_builtin(target->second->handler)
                                              : target->second;
}

const std::vector<BuiltinParam>& builtin_params(const Builtin& builtin) {
  static const auto table = [] {
    std::vector<std::vector<BuiltinParam>> out;
    for (const Builtin& row : kRows) out.push_back(parse_parameters(row.parameters));
    return out;
  }();
  return table[static_cast<size_t>(&builtin - kRows)];
}

std::string canonical_name(std::string_view dotted) {
  std::string name(dotted);
  replace_prefix(name, "triton.language", "tl");
  for (std::string_view module :
       {"torch._inductor.runtime.triton_helpers", "torch._inductor.triton_helpers"})
    if (replace_prefix(name, module, "triton_helpers")) break;
  replace_prefix(name, "triton_helpers.libdevice", "libdevice");
  replace_prefix(name, "triton_helpers.math", "tl.math");
  for (std::string_view module : {"tl.core", "tl.standard", "tl.random", "tl.semantic"})
    if (replace_prefix(name, module, "tl")) break;
  for (std::string_view module :
       {"tl.extra.cuda.libdevice", "tl.extra.libdevice", "tl.libdevice", "tl.math.libdevice"})
    if (replace_prefix(name, module, "libdevice")) break;
  // Triton 2 exported libdevice as tl.math; a name that tl.math lacks today is meant that way.
  if (name.starts_with("tl.math.") && !index_by_name().contains(name)) {
    std::string old = "libdevice." + name.substr(8);
    if (index_by_name().contains(old)) return old;
  }
  return name;
}

std::optional<Constant> builtin_constant(std::string_view name) {
  Constant out;
  if (name == "tl.PropagateNan.ALL" || name == "tl.PropagateNan.NONE") {
    out.kind = Constant::Kind::kString;
    out.text = name.substr(16);
    return out;
  }
  if (name == "tl.TRITON_MAX_TENSOR_NUMEL") {
    out.kind = Constant::Kind::kInt;
    out.integer = 1 << 20;
    return out;
  }
  static constexpr std::pair<std::string_view, double> kMath[] = {
      {"math.pi", 3.141592653589793},
      {"math.e", 2.718281828459045},
      {"math.tau", 6.283185307179586},
      {"math.inf", std::numeric_limits<double>::infinity()},
      {"math.nan", std::numeric_limits<double>::quiet_NaN()},
  };
  for (auto [constant, value] : kMath) {
    if (name != constant) continue;
    out.kind = Constant::Kind::kFloat;
    out.number = value;
    return out;
  }
  if (!name.starts_with("tl.")) return std::nullopt;
  std::string_view word = name.substr(3);
  auto dtype = parse_dtype(word);
  if (!dtype || dtype_triton_name(*dtype) != word) return std::nullopt;
  out.kind = Constant::Kind::kDtype;
  out.dtype = *dtype;
  return out;
}

bool is_builtin_class(std::string_view name) {
  static constexpr std::string_view kClasses[] = {"tl.tensor",
                                                  "tl.dtype",
                                                  "tl.constexpr_type",
                                                  "tl.tuple",
                                                  "tl.tuple_type",
                                                  "tl.slice",
                                                  "tl.tensor_descriptor",
                                                  "tl.tensor_descriptor_type",
                                                  "tl.block_type",
                                                  "tl.pointer_type",
                                                  "tl.constexpr",
                                                  "tl.void",
                                                  "tl.const",
                                                  "tl.pi32_t",
                                                  "tl.PropagateNan",
                                                  "int",
                                                  "float",
                                                  "bool",
                                                  "str",
                                                  "tuple",
                                                  "list",
                                                  "dict",
                                                  "object"};
  return std::find(std::begin(kClasses), std::end(kClasses), name) != std::end(kClasses);
}

bool is_builtin_module(std::string_view name) {
  static constexpr std::string_view kModules[] = {
      "triton",         "tl",        "tl.math", "tl.extra",        "tl.extra.cuda",
      "tl.target_info", "libdevice", "math",    "triton.language", "tl.extra.tilewright"};
  return std::find(std::begin(kModules), std::end(kModules), name) != std::end(kModules);
}

const Builtin* find_dialect(std::string_view dotted) {
  for (const Builtin& row : kRows)
    if (row.kind == Kind::kDialect && dotted.starts_with(row.name) &&
        (dotted.size() == row.name.size() || dotted[row.name.size()] == '.'))
      return &row;
  return nullptr;
}

std::string_view nearest_builtin(std::string_view name) {
  // The callable rows and the dtypes.
  static const auto candidates = [] {
    std::vector<std::string> out;
    for (const Builtin& row : kRows)
      if (row.kind != Kind::kDialect && row.kind != Kind::kUnsupported) out.emplace_back(row.name);
    for (int i = 0; i <= static_cast<int>(Dtype::kF64); ++i)
      out.push_back("tl." + std::string(dtype_triton_name(static_cast<Dtype>(i))));
    return out;
  }();
  std::string_view module = module_of(name), best;
  int best_distance = name.size() - module.size() > 5 ? 3 : 2;
  for (const std::string& candidate : candidates) {
    if (module_of(candidate) != module) continue;
    int distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tilewright::frontend
