// Mode `check`: names and calls of every kernel, resolved without types. Mode `describe`: what a
// kernel's signature and decorators say. `bind=NAME=VALUE` binds arguments and evaluates the
// heuristics.
#include "frontend/frontend.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {
namespace {

using frontend::Constant;
using frontend::KernelInfo;

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += " " + word;
  return out + "\n";
}

std::string describe(const KernelInfo& info) {
  std::string out = "kernel " + info.name + "\n";
  for (const frontend::ParamInfo& param : info.params) {
    out += "  param " + param.name;
    if (param.is_constexpr) out += " constexpr";
    if (param.annotated_type) out += " : " + ir::to_string(*param.annotated_type);
    if (param.default_value) out += " = " + to_string(*param.default_value);
    if (!param.specialize) out += " do_not_specialize";
    if (!param.specialize_alignment) out += " do_not_specialize_on_alignment";
    out += '\n';
  }
  for (const frontend::DecoratorConfig& config : info.configs) {
    out += "  config";
    for (const auto& [name, value] : config.constants) out += " " + name + "=" + to_string(value);
    out += "; warps=" + std::to_string(config.num_warps) +
           " stages=" + std::to_string(config.num_stages);
    if (config.maxnreg) out += " maxnreg=" + std::to_string(*config.maxnreg);
    out += '\n';
  }
  if (!info.configs_error.empty()) out += "  no configs: " + info.configs_error + "\n";
  if (!info.autotune_key.empty()) out += "  key" + joined(info.autotune_key);
  if (!info.reset_to_zero.empty()) out += "  reset_to_zero" + joined(info.reset_to_zero);
  if (!info.restore_value.empty()) out += "  restore_value" + joined(info.restore_value);
  if (!info.heuristics.empty()) out += "  heuristics" + joined(info.heuristics);
  return out;
}

}  // namespace

std::string run_describe(const Case& golden_case) {
  auto program = frontend::Program::load(golden_case.path, golden_case.input);
  if (!program) return program.error().text() + "\n";
  std::map<std::string, Constant> bound;
  if (auto it = golden_case.options.find("bind"); it != golden_case.options.end()) {
    std::string_view rest = it->second;
    while (!rest.empty()) {
      std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      size_t equals = one.find('=');
      bound[std::string(one.substr(0, equals))] =
          frontend::parse_constant(one.substr(equals + 1)).value();
    }
  }
  std::string out;
  for (const std::string& name : (*program)->functions()) {
    auto info = frontend::describe_kernel(**program, name);
    out += info ? describe(*info) : info.error().text() + "\n";
    if (!info || bound.empty()) continue;
    auto computed = frontend::evaluate_heuristics(**program, name, bound);
    if (!computed) out += computed.error().text() + "\n";
    if (computed)
      for (const auto& [param, value] : *computed)
        out += "  " + param + " -> " + to_string(value) + "\n";
  }
  return out;
}

std::string run_check(const Case& golden_case) {
  auto program = frontend::Program::load(golden_case.path, golden_case.input);
  if (!program) return program.error().text() + "\n";
  std::string out;
  for (const frontend::CheckReport& report : frontend::check(**program)) {
    out += report.kernel + (report.sink.has_errors() ? ":\n" : ": ok\n");
    out += render(report.sink, (*program)->sources());
  }
  return out;
}

}  // namespace tilewright::golden
