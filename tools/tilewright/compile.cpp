// `tilewright compile`: one kernel, one specialisation, one stage's output.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "codegen/passes/passes.h"
#include "runtime/compile/compile.h"
#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"

namespace tilewright::tools {
namespace {

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

Result<std::string> report(const cuda::Source& source, const cuda::Binary& binary,
                           const cuda::Resources& resources, const Target& target) {
  cuda::Occupancy occupancy = cuda::occupancy(resources, source, target);
  std::string out = fmt::format(
      "kernel             {}\ntarget             {}\nthreads            {}\nregisters          "
      "{}\nspill instructions {}\n"
      "stack bytes        {}\nshared bytes       {} of {}\ncode bytes         {}\noccupancy        "
      "  {} blocks, {} warps an SM "
      "({:.0f} %), bound by {}\n",
      source.entry, target.name, source.threads, resources.registers, resources.spill_instructions,
      resources.stack_bytes, resources.shared_bytes, target.shared_per_block, resources.code_bytes,
      occupancy.blocks, occupancy.warps, 100 * occupancy.fraction, occupancy.bound);
  out += "instructions      ";
  TW_ASSIGN(auto mix, cuda::instruction_mix(binary.cubin, source));
  for (auto& [name, count] : mix) out += fmt::format(" {}:{}", name, count);
  return out + "\n";
}

Result<std::string> emit_cuda(const CompileOptions& options, const ir::Module& module,
                              const frontend::Program& program) {
  const Target* target = find_target(options.target);
  if (!target)
    return make_error(DiagKind::kBadArgument,
                      fmt::format("target '{}' is not known", options.target),
                      "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120 cpu");
  cuda::Options cuda_options;
  cuda_options.line_info = options.line_info;
  cuda_options.sources = &program.sources();
  TW_ASSIGN(auto source, cuda::emit(module, *target, cuda_options));
  if (options.emit == "cuda") return source.text;
  TW_ASSIGN(auto binary, cuda::compile(source, *target, cuda_options));
  if (options.emit == "ptx") return binary.ptx;
  if (options.emit == "cubin") return binary.cubin;
  TW_ASSIGN(auto resources, cuda::read_resources(binary.cubin, source));
  return report(source, binary, resources, *target);
}

Result<std::string> emit(const CompileOptions& options) {
  KernelName name = split_kernel_name(options.kernel);
  TW_ASSIGN(auto program, load_kernel(name));
  if (options.emit == "ast") return dsl::print(program->ast());
  TW_ASSIGN(auto info, frontend::describe_kernel(*program, name.kernel));
  TW_ASSIGN(auto special, specialization(options, info));
  TW_ASSIGN(auto module, frontend::lower(*program, name.kernel, special));
  TW_TRY(passes::run_pipeline(module));
  if (options.emit == "ir") return ir::print(module);
  bool for_cpu = options.target == "cpu" || options.emit == "llvm" || options.emit == "asm";
  if (!for_cpu) return emit_cuda(options, module, *program);
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
