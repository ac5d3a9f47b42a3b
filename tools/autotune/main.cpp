// autotune: measures the configs of a kernel on the device at hand and keeps every outcome in
// SQLite.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "autotune/kernel_trial.h"
#include "tools/common/terminal.h"
#include "tools/common/workload_text.h"

namespace tilewright::tools {
namespace {

struct Options {
  LaunchText launch;
  std::string device = "auto", space, database, check = "auto";
  int threads = 0;
  bool force = false, json = false;
  int max_spills = -1;
};

std::stop_source* interrupt_target = nullptr;

// The first Ctrl-C ends the sweep after the candidate at hand; the second ends the program.
void on_interrupt(int) {
  if (interrupt_target) interrupt_target->request_stop();
  std::signal(SIGINT, SIG_DFL);
}

void parse(CLI::App& app, Options& o) {
  app.add_option("kernel", o.launch.kernel, "FILE.py::KERNEL")->required();
  app.add_option(
      "arguments", o.launch.arguments,
      "name=value: @x.npy, rand(bf16,[64,64],seed=1), randn, zeros, arange, empty, or a number");
  app.add_option("--grid", o.launch.grid,
                 "may use the configs' names, e.g. 'cdiv(M,BLOCK_M)*cdiv(N,BLOCK_N)'")
      ->required();
  app.add_option("--const", o.launch.constants,
                 "NAME=VALUE of a constexpr parameter that is not tuned");
  app.add_option("--space", o.space,
                 "'BLOCK_M=64,128 warps=4,8 stages=2,3' (default: the kernel's decorator)");
  app.add_option("--device", o.device, "auto, cuda[:N], cpu, emulated[:sm_NN], interp")
      ->capture_default_str();
  app.add_option("--db", o.database,
                 "tuning database (default: $TILEWRIGHT_DB or the user's data folder)");
  app.add_option("--check", o.check,
                 "reference of the results: cpu, first (the first candidate), auto (cpu for a GPU)")
      ->check(CLI::IsMember({"auto", "cpu", "first"}))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "for compiling (default: one a hardware thread)");
  app.add_flag("--force", o.force, "measure again what the database has");
  app.add_option("--max-spills", o.max_spills,
                 "reject configs with more spill instructions, unmeasured")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", o.json, "one JSON document on stdout");
}

Result<std::vector<autotune::Config>> space_of(const Options& o, const autotune::Workload& work) {
  if (!o.space.empty()) return autotune::parse_space(o.space);
  TW_ASSIGN(auto info, frontend::describe_kernel(*work.program, work.kernel));
  if (!info.configs_error.empty())
    return ErrorInfo{DiagKind::kHostCode,
                     fmt::format("the configs of '{}' cannot be evaluated", work.kernel),
                     "give --space 'BLOCK=256,512,1024 warps=2,4'", info.configs_error};
  auto space = autotune::decorator_space(info);
  if (space.empty())
    return make_error(DiagKind::kBadArgument,
                      fmt::format("kernel '{}' has no @triton.autotune configs", work.kernel),
                      "give --space 'BLOCK=256,512,1024 warps=2,4'");
  return space;
}

Result<autotune::Checker> checker_of(const Options& o, const autotune::Workload& work,
                                     const runtime::Device& device,
                                     const autotune::Config& config) {
  bool use_cpu = o.check == "cpu" || (o.check == "auto" && device.is_cuda() && cpu::available());
  return use_cpu ? autotune::check_against_cpu(work, config) : autotune::check_against_first();
}

void print_rows(const autotune::TuneResult& result, const std::string& path) {
  for (const autotune::Measurement& row : result.rows) {
    if (row.outcome == autotune::Outcome::kMeasured)
      std::printf("%-64s %10s  error %.1e  %d registers, %d bytes shared, %d spills\n",
                  row.config.c_str(), format_duration(row.median_ns).c_str(), row.error,
                  row.registers, row.shared_bytes, row.spills);
    else
      std::printf("%-64s %s: %s\n", row.config.c_str(),
                  std::string(outcome_name(row.outcome)).c_str(), row.reason.c_str());
  }
  std::printf("best %s %s (%d measured now)\nkept in %s\n", result.best.config.c_str(),
              format_duration(result.best.median_ns).c_str(), result.measured, path.c_str());
}

void print_json(const autotune::TuneResult& result, const autotune::Key& key,
                const std::string& path) {
  nlohmann::json rows = nlohmann::json::array();
  for (const autotune::Measurement& row : result.rows)
    rows.push_back({{"config", row.config},
                    {"outcome", outcome_name(row.outcome)},
                    {"reason", row.reason},
                    {"median_ns", row.median_ns},
                    {"minimum_ns", row.minimum_ns},
                    {"samples", row.samples},
                    {"error", row.error},
                    {"registers", row.registers},
                    {"shared_bytes", row.shared_bytes},
                    {"spills", row.spills}});
  nlohmann::json out = {{"kernel", key.kernel},
                        {"problem", key.problem},
                        {"device", key.device},
                        {"compiler", key.compiler},
                        {"database", path},
                        {"best", result.best.config},
                        {"measured", result.measured},
                        {"rows", rows}};
  std::printf("%s\n", out.dump(2).c_str());
}

Status sweep(const Options& o) {
  TW_ASSIGN(auto work, make_workload(o.launch));
  TW_ASSIGN(auto space, space_of(o, work));
  TW_ASSIGN(auto device, runtime::Device::open(o.device));
  TW_ASSIGN(auto db, autotune::TuningDb::open(o.database.empty() ? autotune::default_database_path()
                                                                 : o.database));
  ProgressLine progress;
  if (!db.notice().empty()) progress.message("note: " + db.notice());
  progress.message(fmt::format("{} configs on {}", space.size(), device.description()));
  TW_ASSIGN(auto checker, checker_of(o, work, device, space.front()));
  TW_ASSIGN(auto trial, autotune::KernelTrial::create(
                            work, device, std::make_shared<runtime::CompileService>(), checker));
  std::stop_source stop;
  interrupt_target = &stop;
  std::signal(SIGINT, on_interrupt);
  autotune::TuneOptions options;
  options.threads = o.threads;
  options.force = o.force;
  options.max_spills = o.max_spills;
  options.stop = stop.get_token();
  options.progress = [&](const autotune::Progress& p) { progress.show(p); };
  autotune::Key key = trial->key();
  auto result = autotune::tune(key, space, *trial, db, options);
  interrupt_target = nullptr;
  if (!result) return result.error();
  if (o.json)
    print_json(*result, key, db.path());
  else
    print_rows(*result, db.path());
  return {};
}

int main(int argc, char** argv) {
  CLI::App app("Measures a kernel's configs and keeps the results in SQLite", "autotune");
  app.set_version_flag("--version", TILEWRIGHT_VERSION);
  Options options;
  parse(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  Status status = sweep(options);
  return status ? 0 : fail(status.error());
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
