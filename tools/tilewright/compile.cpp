// `tilewright compile`: one kernel, one specialisation, one stage's output.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "codegen/cuda/disassembler.h"
#include "codegen/passes/passes.h"
#include "codegen/report/report.h"
#include "runtime/compile/compile.h"
#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"
#include "tools/tilewright/report_json.h"

namespace tilewright::tools {
namespace {

// Wall times of the stages, for the report.
class Stopwatch {
 public:
  // Ends a stage.
  void lap(const char* name) {
    auto now = std::chrono::steady_clock::now();
    phases_.push_back({name, std::chrono::duration<double, std::milli>(now - start_).count()});
    start_ = now;
  }
  const std::vector<report::Phase>& phases() const { return phases_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<report::Phase> phases_;
};

Result<frontend::Specialization> specialization(const CompileOptions& options,
                                                const frontend::KernelInfo& info) {
  std::map<std::string, frontend::Argument> given;
  for (const std::string& text : options.arguments) {
    TW_ASSIGN(auto argument, frontend::parse_argument(text));
    given[argument.name] = argument;
  }
  for (const std::string& text : options.constants) {
    size_t equals = text.find('=');
    if (equals == text.npos)
      return make_error(DiagKind::kBadArgument, fmt::format("'{}' is not NAME=VALUE", text));
    frontend::Argument argument;
    argument.name = text.substr(0, equals);
    argument.is_constant = true;
    TW_ASSIGN(argument.constant, frontend::parse_constant(text.substr(equals + 1)));
    given[argument.name] = argument;
  }
  frontend::Specialization out;
  out.num_warps = options.num_warps;
  out.num_stages = options.num_stages;
  out.maxnreg = options.maxnreg;
  out.debug = options.debug;
  for (const frontend::ParamInfo& param : info.params)
    if (auto it = given.find(param.name); it != given.end()) {
      out.arguments.push_back(it->second);
      given.erase(it);
    }
  if (!given.empty())
    return make_error(DiagKind::kUnknownArgument, fmt::format("kernel '{}' has no parameter '{}'",
                                                              info.name, given.begin()->first));
  return out;
}

Result<const Target*> find_known_target(const std::string& name) {
  if (const Target* target = find_target(name)) return target;
  std::string known;
  for (const Target& target : all_targets()) known += std::string(target.name) + " ";
  return make_error(DiagKind::kBadArgument, fmt::format("target '{}' is not known", name),
                    known + "cpu");
}

// The card that the report judges by: the one named, or the target's reference card.
Result<const Card*> find_known_card(const std::string& name, const Target& target) {
  if (name.empty()) return &reference_card(target);
  const Card* card = find_card(name);
  if (card && card->target == target.name) return card;
  std::string known;
  for (const Card& one : all_cards())
    if (one.target == target.name) known += (known.empty() ? "" : ", ") + std::string(one.name);
  return make_error(
      DiagKind::kBadArgument,
      card ? fmt::format("{} is a card of {}, not of {}", card->name, card->target, target.name)
           : fmt::format("card '{}' is not known", name),
      fmt::format("the cards of {} are {}", target.name, known));
}

Status check_spills(const CompileOptions& options, const report::Report& report) {
  int spills = report.resources.spill_instructions;
  if (options.max_spills < 0 || spills <= options.max_spills) return {};
  return make_error(DiagKind::kOutOfResources,
                    fmt::format("{} has {} spill instructions, {} are allowed", report.kernel,
                                spills, options.max_spills),
                    "lower the tile's extents (BLOCK_* constants) or raise num_warps or maxnreg");
}

Result<std::string> emit_cuda(const CompileOptions& options, const ir::Module& module,
                              const frontend::Program& program, Stopwatch& watch) {
  TW_ASSIGN(const Target* target, find_known_target(options.target));
  TW_ASSIGN(const Card* card, find_known_card(options.card, *target));
  const bool reports = options.emit == "report";
  cuda::Options cuda_options;
  // Line information changes no instruction; it ties loops and spills to the source.
  cuda_options.line_info = options.line_info || reports || options.emit == "sass";
  cuda_options.sources = &program.sources();
  TW_ASSIGN(auto source, cuda::emit(module, *target, cuda_options));
  watch.lap("emit");
  if (options.emit == "cuda") return source.text;
  TW_ASSIGN(auto binary, cuda::compile(source, *target, cuda_options));
  watch.lap("nvrtc");
  if (options.emit == "ptx") return binary.ptx;
  if (options.emit == "cubin" && options.max_spills < 0) return binary.cubin;
  if (options.emit == "sass") return cuda::disassemble(binary.cubin, {.line_info = true});
  TW_ASSIGN(auto report,
            report::make_report({module, source, binary, *target, *card, program.sources()}));
  TW_TRY(check_spills(options, report));
  if (options.emit == "cubin") return binary.cubin;
  report.phases = watch.phases();
  return options.json ? to_json(report) : report::to_text(report);
}

Result<std::string> emit(const CompileOptions& options) {
  KernelName name = split_kernel_name(options.kernel);
  Stopwatch watch;
  TW_ASSIGN(auto program, load_kernel(name));
  watch.lap("parse");
  if (options.emit == "ast") return dsl::print(program->ast());
  TW_ASSIGN(auto info, frontend::describe_kernel(*program, name.kernel));
  TW_ASSIGN(auto special, specialization(options, info));
  TW_ASSIGN(auto module, frontend::lower(*program, name.kernel, special));
  watch.lap("lower");
  TW_TRY(passes::run_pipeline(module));
  watch.lap("passes");
  if (options.emit == "ir") return ir::print(module);
  bool for_cpu = options.target == "cpu" || options.emit == "llvm" || options.emit == "asm";
  if (!for_cpu) return emit_cuda(options, module, *program, watch);
  cpu::Options cpu_options;
  if (options.line_info) cpu_options.debug_sources = &program->sources();
  if (options.emit == "asm") return cpu::emit_assembly(module, cpu_options);
  return cpu::emit_llvm(module, cpu_options);
}

}  // namespace

int run_compile(const CompileOptions& options) {
  auto text = emit(options);
  if (!text) return fail(text.error());
  if (options.output.empty()) {
    std::fwrite(text->data(), 1, text->size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  std::ofstream out(options.output, std::ios::binary);
  out.write(text->data(), static_cast<long>(text->size()));
  out.flush();
  if (!out)
    return fail(make_error(DiagKind::kIo, fmt::format("{} cannot be written", options.output)));
  return 0;
}

}  // namespace tilewright::tools
