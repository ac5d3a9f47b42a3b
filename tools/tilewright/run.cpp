// `tilewright run`: one launch, its outputs told in a line each.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "tools/common/npy.h"
#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"

namespace tilewright::tools {
namespace {

std::string summary(const HostTensor& tensor) {
  double low = INFINITY, high = -INFINITY, total = 0;
  int64_t nan = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double value = tensor.get(i);
    if (std::isnan(value)) {
      ++nan;
      continue;
    }
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    total += value;
  }
  int64_t numbers = tensor.count() - nan;
  std::string out = numbers ? fmt::format("min {:.6g} max {:.6g} mean {:.6g}", low, high,
                                          total / static_cast<double>(numbers))
                            : "no numbers";
  return nan ? out + fmt::format(" ({} NaN)", nan) : out;
}

Status save(const std::vector<std::string>& words, const autotune::Workload& workload,
            const std::vector<HostTensor>& tensors) {
  for (const std::string& word : words) {
    size_t equals = word.find('='), index = 0;
    if (equals == word.npos)
      return make_error(DiagKind::kBadArgument,
                        fmt::format("--save {} is not NAME=FILE.npy", word));
    bool saved = false;
    for (const autotune::WorkArgument& argument : workload.arguments) {
      if (!argument.tensor) continue;
      if (argument.name == word.substr(0, equals)) {
        TW_TRY(write_npy(word.substr(equals + 1), tensors[index]));
        saved = true;
      }
      ++index;
    }
    if (!saved)
      return make_error(DiagKind::kUnknownArgument,
                        fmt::format("--save names '{}', which is no tensor of the launch",
                                    word.substr(0, equals)));
  }
  return {};
}

Status run(const RunOptions& options) {
  TW_ASSIGN(auto workload, make_workload(options.launch));
  TW_ASSIGN(auto device, runtime::Device::open(options.device));
  autotune::Config config;
  config.num_warps = options.num_warps;
  config.num_stages = options.num_stages;
  config.maxnreg = options.maxnreg;
  auto service = std::make_shared<runtime::CompileService>();
  TW_ASSIGN(auto trial, autotune::KernelTrial::create(workload, device, service, {}));
  auto start = std::chrono::steady_clock::now();
  TW_ASSIGN(auto built, trial->build(config));
  double compile_ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  start = std::chrono::steady_clock::now();
  TW_ASSIGN(auto tensors, trial->run(config));
  double run_ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  std::printf("device %s\ncompile %s, launch with copies %s\n", device.description().c_str(),
              format_duration(compile_ns).c_str(), format_duration(run_ns).c_str());
  size_t index = 0;
  for (const autotune::WorkArgument& argument : workload.arguments) {
    if (!argument.tensor) continue;
    const HostTensor& tensor = tensors[index++];
    if (tensor.bytes != argument.tensor->bytes)
      std::printf("%s %s %s\n", argument.name.c_str(), describe(tensor).c_str(),
                  summary(tensor).c_str());
  }
  return save(options.save, workload, tensors);
}

}  // namespace

int run_run(const RunOptions& options) {
  Status status = run(options);
  return status ? 0 : fail(status.error());
}

}  // namespace tilewright::tools
