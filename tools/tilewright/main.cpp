// tilewright: check, compile and run Triton kernels from the shell.
#include <CLI/CLI.hpp>

#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"

namespace tilewright::tools {
namespace {

void add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* sub =
      app.add_subcommand("check", "parse and resolve every kernel; exit 1 on any error");
  sub->add_option("files", options.files, "kernel files")->required();
  sub->add_flag("--json", options.json, "one JSON document on stdout");
}

void add_compile(CLI::App& app, CompileOptions& options) {
  CLI::App* sub = app.add_subcommand("compile", "compile one kernel; no GPU is needed");
  sub->add_option("kernel", options.kernel, "FILE.py::KERNEL")->required();
  sub->add_option("--target,--arch", options.target,
                  "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120, or cpu")
      ->capture_default_str();
  sub->add_option("--arg", options.arguments,
                  "x=*bf16:16 (aligned to 16 bytes), n=i32, n=i32:8 (divisible by 2, 4, 8 or 16), "
                  "n=i32=1 (specialised to 1)");
  sub->add_option("--const", options.constants, "NAME=VALUE of a constexpr parameter");
  sub->add_option("--num-warps", options.num_warps)->capture_default_str();
  sub->add_option("--num-stages", options.num_stages)->capture_default_str();
  sub->add_option("--maxnreg", options.maxnreg,
                  "registers a thread may use at most on a GPU (0: as many as there are)")
      ->check(CLI::Range(0, 255));
  sub->add_flag("--line-info", options.line_info, "tie the code to the kernel's source lines");
  sub->add_flag("--debug", options.debug, "keep assertions");
  sub->add_option("--emit", options.emit, "what to write")
      ->check(CLI::IsMember({"ast", "ir", "cuda", "ptx", "cubin", "sass", "llvm", "asm", "report"}))
      ->capture_default_str();
  sub->add_option("--device", options.card,
                  "card that the report judges by, e.g. \"RTX 4090\" (default: one a target)");
  sub->add_flag("--json", options.json, "the report as one JSON document");
  sub->add_option("--max-spills", options.max_spills,
                  "fail when the kernel has more spill instructions")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("-o,--output", options.output, "file (default: stdout)");
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* sub = app.add_subcommand("run", "launch one kernel on real or made-up data");
  sub->add_option("kernel", options.launch.kernel, "FILE.py::KERNEL")->required();
  sub->add_option("arguments", options.launch.arguments,
                  "name=value: @x.npy, @raw.npy:bf16, rand(bf16,[64,64],seed=1), randn, zeros, "
                  "arange, empty, or a number");
  sub->add_option("--grid", options.launch.grid, "e.g. 'cdiv(n,BLOCK)' or 'a,b'")->required();
  sub->add_option("--const", options.launch.constants, "NAME=VALUE of a constexpr parameter");
  sub->add_option("--device", options.device, "auto, cuda[:N], cpu, emulated[:sm_NN], interp")
      ->capture_default_str();
  sub->add_option("--num-warps", options.num_warps)->capture_default_str();
  sub->add_option("--num-stages", options.num_stages)->capture_default_str();
  sub->add_option("--maxnreg", options.maxnreg,
                  "registers a thread may use at most on a GPU (0: as many as there are)")
      ->check(CLI::Range(0, 255));
  sub->add_option("--save", options.save, "NAME=FILE.npy: write a tensor after the launch");
}

void add_demo(CLI::App& app, DemoOptions& options) {
  CLI::App* sub = app.add_subcommand("demo", "compile, tune, run and check a matmul");
  sub->add_option("--device", options.device, "auto, cuda[:N], cpu")->capture_default_str();
  sub->add_option("--size", options.size, "M = N = K (default: 4096 on a GPU, 512 elsewhere)")
      ->check(CLI::PositiveNumber);
  sub->add_option("--db", options.database,
                  "tuning database (default: $TILEWRIGHT_DB or the user's data folder)");
}

int main(int argc, char** argv) {
  CLI::App app("Triton kernels, compiled and tuned from C++", "tilewright");
  app.set_version_flag("--version", TILEWRIGHT_VERSION);
  app.require_subcommand(1);
  CheckOptions check;
  CompileOptions compile;
  RunOptions run;
  DemoOptions demo;
  add_check(app, check);
  add_compile(app, compile);
  add_run(app, run);
  add_demo(app, demo);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  if (app.got_subcommand("check")) return run_check(check);
  if (app.got_subcommand("compile")) return run_compile(compile);
  if (app.got_subcommand("run")) return run_run(run);
  return run_demo(demo);
}

}  // namespace
}  // namespace tilewright::tools

int main(int argc, char** argv) {
  try {
    return tilewright::tools::main(argc, argv);
  } catch (const std::exception& error) {
    tilewright::tools::print_error(std::string("error: ") + error.what());
    return 1;
  }
}
