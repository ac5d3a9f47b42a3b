#include "codegen/cuda/emit_combine.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::cuda {

std::string emit_fold(Emitter& e, const ir::OpNode& op) {
  const ir::Region& region = e.module.region(op.regions[0]);
  const size_t arity = op.operands.size();
  std::string fold = e.fresh("fold"), parameters;
  std::vector<View> lhs;
  for (size_t i = 0; i < region.args.size(); ++i) {
    const ir::Type& type = e.module.type(region.args[i]);
    View view{.type = type, .layout = {}, .name = e.name_for(region.args[i]), .uniform = true};
    bool left = i < arity;
    parameters +=
        fmt::format("{}{}{} {}", i > 0 ? ", " : "", type_name(type), left ? "&" : "", view.name);
    e.define(region.args[i], view);
    if (left) lhs.push_back(view);
  }
  e.out.open(fmt::format("auto {} = [&]({}) TW_INLINE", fold, parameters));
  ir::OpId terminator = e.emit_region(op.regions[0]);
  // A left side that is passed on as another result is read before it changes.
  std::vector<View> next;
  for (size_t k = 0; k < arity; ++k) {
    View view = e.use(terminator, static_cast<int>(k));
    bool moved =
        std::any_of(lhs.begin(), lhs.end(), [&](const View& l) { return l.name == view.name; });
    if (moved && view.name != lhs[k].name)
      view = e.make_each(view.type, view.layout, e.fresh("next"), true,
                         [&](const std::string&) { return view.name; });
    next.push_back(view);
  }
  for (size_t k = 0; k < arity; ++k)
    if (next[k].name != lhs[k].name) e.out.line(fmt::format("{} = {};", lhs[k].name, next[k].name));
  e.out.close("};");
  return fold;
}

}  // namespace tilewright::cuda
