// `tilewright demo`: the main job in one command. A matmul kernel is compiled from its .py text,
// tuned over the configs of its decorator on the device found, the best one is kept in SQLite, run
// on random input, checked against sums in double, and shown.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "autotune/kernel_trial.h"
#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"

namespace tilewright::embedded {
extern const std::string_view matmul_kernel;
}

namespace tilewright::tools {
namespace {

using autotune::Config;
using autotune::HostTensor;
using autotune::WorkArgument;
using frontend::Constant;

struct Problem {
  int64_t size;
  Dtype dtype;
  HostTensor a, b;
  std::vector<int64_t> rows;     // of the result that are checked
  std::vector<double> expected;  // those rows, in double
};

// Multiply-adds in double that a check may cost: about a second.
constexpr int64_t kCheckedProducts = int64_t{1} << 30;

// Every row of a small product, else rows spread over all tiles.
Problem make_problem(int64_t size, Dtype dtype) {
  Problem p{size,
            dtype,
            autotune::random_uniform(dtype, {size, size}, 1),
            autotune::random_uniform(dtype, {size, size}, 2),
            {},
            {}};
  int64_t count =
      std::clamp<int64_t>(kCheckedProducts / (size * size), std::min<int64_t>(16, size), size);
  for (int64_t i = 0; i < count; ++i)
    p.rows.push_back(i * size / count + (count < size ? i % 7 : 0));
  std::vector<double> b(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < size * size; ++i) b[i] = p.b.get(i);
  p.expected.assign(p.rows.size() * size, 0);
  for (size_t r = 0; r < p.rows.size(); ++r)
    for (int64_t k = 0; k < size; ++k) {
      double a = p.a.get(p.rows[r] * size + k);
      for (int64_t j = 0; j < size; ++j) p.expected[r * size + j] += a * b[k * size + j];
    }
  return p;
}

// Relative Frobenius error over the checked rows, every other element must have been written.
Result<double> check(const Problem& p, const HostTensor& c) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < c.count(); ++i)
    if (std::isnan(c.get(i)))
      return make_error(DiagKind::kWrongResult,
                        fmt::format("c[{}, {}] was not written", i / p.size, i % p.size));
  for (size_t r = 0; r < p.rows.size(); ++r)
    for (int64_t j = 0; j < p.size; ++j) {
      double expected = p.expected[r * p.size + j], actual = c.get(p.rows[r] * p.size + j);
      difference += (actual - expected) * (actual - expected);
      norm += expected * expected;
    }
  double error = std::sqrt(difference / norm);
  if (!(error <= autotune::allowed_error(p.dtype)))
    return make_error(DiagKind::kWrongResult,
                      fmt::format("relative error {:.2e}, allowed is {:.1e}", error,
                                  autotune::allowed_error(p.dtype)));
  return error;
}

autotune::Workload make_workload(const Problem& p,
                                 std::shared_ptr<const frontend::Program> program) {
  autotune::Workload work;
  work.program = std::move(program);
  work.kernel = "matmul";
  auto tensor = [&](const char* name, HostTensor value) {
    work.arguments.push_back({name, std::move(value), {}});
  };
  auto integer = [&](const char* name, int64_t value) {
    work.arguments.push_back({name, std::nullopt, runtime::Arg::integer(value)});
  };
  tensor("a_ptr", p.a);
  tensor("b_ptr", p.b);
  tensor("c_ptr", autotune::poisoned(p.dtype, {p.size, p.size}));
  for (const char* extent : {"M", "N", "K"}) integer(extent, p.size);
  for (const char* rows : {"stride_am", "stride_bk", "stride_cm"}) integer(rows, p.size);
  for (const char* unit : {"stride_ak", "stride_bn", "stride_cn"}) integer(unit, 1);
  work.grid = [size = p.size](const Config& config) -> Result<std::array<uint32_t, 3>> {
    auto tiles = [&](const char* block) {
      int64_t extent = config.constants.at(block).integer;
      return static_cast<uint32_t>((size + extent - 1) / extent);
    };
    return std::array<uint32_t, 3>{tiles("BLOCK_M") * tiles("BLOCK_N"), 1, 1};
  };
  return work;
}

void print_table(const Problem& p, const runtime::Device& device, const autotune::TuneResult& tuned,
                 const std::vector<double>& samples, double error, const std::string& database) {
  double ns = autotune::median(samples);
  double flops =
      2.0 * static_cast<double>(p.size) * static_cast<double>(p.size) * static_cast<double>(p.size);
  std::printf("\nmatmul %ldx%ldx%ld %s on %s\n", p.size, p.size, p.size,
              std::string(dtype_name(p.dtype)).c_str(), device.description().c_str());
  std::printf("  candidates   %zu known, %d measured now\n", tuned.rows.size(), tuned.measured);
  for (const autotune::Measurement& row : tuned.rows) {
    bool measured = row.outcome == autotune::Outcome::kMeasured;
    std::printf("    %-62s %s\n", row.config.c_str(),
                measured ? format_duration(row.median_ns).c_str()
                         : (std::string(outcome_name(row.outcome)) + ": " + row.reason).c_str());
  }
  std::printf("  config       %s\n  time         %s (median of %zu)\n  rate         %.1f GFLOP/s\n",
              tuned.best.config.c_str(), format_duration(ns).c_str(), samples.size(), flops / ns);
  std::printf("  error        %.2e relative to sums in double over %zu rows (allowed %.1e)\n",
              error, p.rows.size(), autotune::allowed_error(p.dtype));
  std::printf("  database     %s\n", database.c_str());
}

Status demo(const DemoOptions& options) {
  TW_ASSIGN(auto device, runtime::Device::open(options.device));
  ProgressLine progress;
  progress.message("device: " + device.description());
  int64_t size = options.size ? options.size : device.is_cuda() ? 4096 : 512;
  Problem problem = make_problem(size, device.is_cuda() ? Dtype::kF16 : Dtype::kF32);
  TW_ASSIGN(auto program, frontend::Program::load("kernels_lib/matmul/kernel.py",
                                                  std::string(embedded::matmul_kernel)));
  TW_ASSIGN(auto info, frontend::describe_kernel(*program, "matmul"));
  auto checker = [&problem](const std::vector<HostTensor>& tensors) {
    return check(problem, tensors[2]);
  };
  auto service = std::make_shared<runtime::CompileService>();
  TW_ASSIGN(auto trial, autotune::KernelTrial::create(make_workload(problem, program), device,
                                                      service, checker));
  TW_ASSIGN(auto db,
            autotune::TuningDb::open(options.database.empty() ? autotune::default_database_path()
                                                              : options.database));
  if (!db.notice().empty()) progress.message("note: " + db.notice());
  autotune::TuneOptions tune_options;
  tune_options.progress = [&](const autotune::Progress& p) { progress.show(p); };
  progress.message("tuning over the kernel's configs");
  TW_ASSIGN(auto tuned, autotune::tune(trial->key(), autotune::decorator_space(info), *trial, db,
                                       tune_options));
  TW_ASSIGN(auto built, trial->build(tuned.config));
  TW_ASSIGN(double error, trial->check(built));
  TW_ASSIGN(auto samples, trial->time(built));
  print_table(problem, device, tuned, samples, error, db.path());
  return {};
}

}  // namespace

int run_demo(const DemoOptions& options) {
  Status status = demo(options);
  return status ? 0 : fail(status.error());
}

}  // namespace tilewright::tools
