// Modes of the tile IR. A file may hold several modules, divided by lines of three dashes.
//
//   ir      parses, verifies and prints
//   verify  the verifier's (or parser's) errors, or "ok"
//   opdoc   the documentation of the ops named in the text
//   passes  the module after the passes of the option, e.g. passes=canonicalize,dce
#include <sstream>

#include "codegen/ir/module.h"
#include "codegen/ir/op_doc.h"
#include "codegen/passes/combine_atomics.h"
#include "codegen/passes/expand_dots.h"
#include "codegen/passes/merge_reductions.h"
#include "codegen/passes/passes.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {
namespace {

template <class F>
std::string for_each_module(const Case& c, F run) {
  constexpr std::string_view kDivider = "---\n";
  std::string out;
  std::string_view rest = c.input;
  while (true) {
    size_t end = rest.starts_with(kDivider) ? 0 : rest.find("\n---\n");
    bool last = end == rest.npos;
    std::string_view part = last ? rest : rest.substr(0, end ? end + 1 : 0);
    out += run(part);
    if (last) return out;
    out += kDivider;
    rest.remove_prefix(part.size() + kDivider.size());
  }
}

// As for a backend without any of the special dots.
bool expand_dots(ir::Module& module) {
  return passes::expand_dots(module, [](const ir::Module&, const ir::OpNode&) { return false; });
}

struct PassName {
  std::string_view name;
  bool (*run)(ir::Module&);
};

constexpr PassName kPasses[] = {
    {"canonicalize", passes::canonicalize},
    {"cse", passes::eliminate_common_subexpressions},
    {"licm", passes::hoist_loop_invariants},
    {"dce", passes::eliminate_dead_code},
    {"fma", passes::contract_fma},
    {"uniform", passes::make_increments_uniform},
    {"narrow_casts", passes::narrow_casts},
    {"expand_dots", expand_dots},
    {"skip_masks", passes::skip_masks},
    {"merge_reductions", passes::merge_reductions},
    {"combine_atomics", passes::combine_atomics},
};

Status run_pass(std::string_view name, ir::Module& module) {
  if (name == "pipeline") return passes::run_pipeline(module, {.verify_each = true, .observe = {}});
  for (const PassName& pass : kPasses) {
    if (pass.name != name) continue;
    pass.run(module);
    return ir::verify(module);
  }
  return make_error(DiagKind::kInternal, "no pass '" + std::string(name) + "'");
}

}  // namespace

std::string run_ir(const Case& c) {
  return for_each_module(c, [&](std::string_view text) -> std::string {
    auto module = ir::parse(c.path, text);
    if (!module.ok()) return module.error().text() + "\n";
    Status status = ir::verify(*module);
    if (!status.ok()) return status.error().text() + "\n";
    return ir::print(*module);
  });
}

std::string run_verify(const Case& c) {
  return for_each_module(c, [&](std::string_view text) -> std::string {
    auto module = ir::parse(c.path, text);
    if (!module.ok()) return module.error().text() + "\n";
    Status status = ir::verify(*module);
    return status.ok() ? "ok\n" : status.error().text() + "\n";
  });
}

std::string run_opdoc(const Case& c) {
  std::istringstream words(c.input);
  std::string out;
  for (std::string word; words >> word;) {
    auto op = ir::op_from_mnemonic(word);
    out += op ? ir::op_doc(*op) : "no op " + word + "\n";
  }
  return out;
}

std::string run_passes(const Case& c) {
  return for_each_module(c, [&](std::string_view text) -> std::string {
    auto module = ir::parse(c.path, text);
    if (!module.ok()) return module.error().text() + "\n";
    if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
    auto option = c.options.find("passes");
    std::istringstream names(option == c.options.end() ? "" : option->second);
    for (std::string name; std::getline(names, name, ',');)
      if (Status status = run_pass(name, *module); !status.ok())
        return "after " + name + ":\n" + status.error().text() + "\n";
    return ir::print(*module);
  });
}

}  // namespace tilewright::golden
