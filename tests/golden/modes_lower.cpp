// Modes of lowering: `lower` prints the verified IR of one kernel for one specialisation, `diag`
// prints the diagnostics of a kernel that must be refused (or "ok"). Options:
//   kernel=NAME       default: the last jit function of the file
//   arg=x=*f32:16     a run-time parameter, as on the command line
//   const=NAME=VALUE  a constexpr parameter
//   env=NAME=VALUE    a free name of the kernel
//   num_warps=N num_stages=N debug=1
#include <cstdlib>
#include <optional>
#include <sstream>

#include "frontend/frontend.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {
namespace {

std::vector<std::string> split_list(const std::string& joined) {
  std::vector<std::string> out;
  std::istringstream in(joined);
  for (std::string word; std::getline(in, word, ';');) out.push_back(word);
  return out;
}

std::pair<std::string, frontend::Constant> named_constant(const std::string& text) {
  size_t equals = text.find('=');
  return {text.substr(0, equals), frontend::parse_constant(text.substr(equals + 1)).value()};
}

std::string option(const Case& golden_case, std::string_view key, std::string otherwise = "") {
  auto it = golden_case.options.find(key);
  return it == golden_case.options.end() ? otherwise : it->second;
}

frontend::Specialization specialization(const Case& golden_case) {
  frontend::Specialization out;
  for (const std::string& text : split_list(option(golden_case, "arg")))
    out.arguments.push_back(frontend::parse_argument(text).value());
  for (const std::string& text : split_list(option(golden_case, "const"))) {
    frontend::Argument& argument = out.arguments.emplace_back();
    auto [name, value] = named_constant(text);
    argument.name = name;
    argument.is_constant = true;
    argument.constant = value;
  }
  out.num_warps = std::atoi(option(golden_case, "num_warps", "4").c_str());
  out.num_stages = std::atoi(option(golden_case, "num_stages", "3").c_str());
  out.debug = option(golden_case, "debug") == "1";
  return out;
}

Result<ir::Module> lower_case(const Case& golden_case) {
  std::map<std::string, frontend::Constant> environment;
  for (const std::string& text : split_list(option(golden_case, "env")))
    environment.insert(named_constant(text));
  auto program = frontend::Program::load(golden_case.path, golden_case.input, environment);
  if (!program) return program.error();
  std::vector<std::string> functions = (*program)->functions();
  std::string kernel = option(golden_case, "kernel", functions.empty() ? "" : functions.back());
  return frontend::lower(**program, kernel, specialization(golden_case));
}

}  // namespace

std::string run_lower(const Case& golden_case) {
  auto module = lower_case(golden_case);
  return module ? ir::print(*module) : module.error().text() + "\n";
}

std::string run_diag(const Case& golden_case) {
  auto module = lower_case(golden_case);
  return module ? "ok\n" : module.error().text() + "\n";
}

}  // namespace tilewright::golden
