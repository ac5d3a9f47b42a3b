// @triton.heuristics: constexpr parameters computed from the other arguments of a launch.
#include <fmt/format.h>

#include "frontend/decorators.h"
#include "frontend/host_eval.h"

namespace tilewright::frontend {
namespace {

// The dict that a heuristic receives: what is bound, and the kernel's other parameters as arguments
// of unknown value (pointers).
HostValue argument_dict(const dsl::Stmt& kernel, const std::map<std::string, Constant>& bound) {
  std::vector<HostValue> items;
  for (const auto& [name, value] : bound) {
    items.push_back(HostValue::of(Constant::string(name)));
    items.push_back(HostValue::of(value));
  }
  for (const dsl::Param& param : kernel.params) {
    if (bound.contains(param.name)) continue;
    items.push_back(HostValue::of(Constant::string(param.name)));
    items.push_back(HostValue::argument(param.name));
  }
  return HostValue::dict(std::move(items));
}

}  // namespace

Result<std::map<std::string, Constant>> evaluate_heuristics(
    const Program& program, std::string_view name, const std::map<std::string, Constant>& bound) {
  TW_ASSIGN(const dsl::Stmt* kernel, find_kernel(program, name));
  HostEvaluator host(program);
  std::map<std::string, Constant> known = bound, computed;
  for (const Decorator& decorator : decorators_of(*kernel)) {
    if (decorator.kind != Decorator::Kind::kHeuristics) continue;
    const dsl::Expr* expr = heuristics_dict(decorator);
    if (expr == nullptr) continue;
    TW_ASSIGN(HostValue dict, host.eval(*expr));
    if (dict.kind != HostValue::Kind::kDict)
      return make_error(DiagKind::kHostCode,
                        fmt::format("the heuristics of '{}' are no dict", name));
    for (size_t i = 0; i < dict.items->size(); i += 2) {
      const std::string& param = (*dict.items)[i].constant.text;
      auto value = host.call_function((*dict.items)[i + 1], {argument_dict(*kernel, known)}, *expr);
      std::optional<Constant> constant = value ? to_constant(*value) : std::nullopt;
      // A caller who gives the value needs no heuristic.
      if (!constant && known.contains(param)) continue;
      if (!value) return value.error();
      if (!constant)
        return make_error(DiagKind::kHostCode,
                          fmt::format("the heuristic of '{}' gives no constant", param));
      known[param] = *constant;
      computed[param] = std::move(*constant);
    }
  }
  return computed;
}

}  // namespace tilewright::frontend
