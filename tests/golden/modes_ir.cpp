// Modes of the tile IR. A file may hold several modules, divided by lines of three dashes.
//
//   ir      parses, verifies and prints
//   verify  the verifier's (or parser's) errors, or "ok"
//   opdoc   the documentation of the ops named in the text
#include <sstream>

#include "codegen/ir/module.h"
#include "codegen/ir/op_doc.h"
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

}  // namespace tilewright::golden
