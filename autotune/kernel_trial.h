// Trials of a real kernel on a real device: the launch to be tuned, with its tensors, and how a
// candidate is built, checked and timed there.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/host_tensor.h"
#include "autotune/tune.h"
#include "runtime/compile/kernel.h"

namespace tilewright::autotune {

struct WorkArgument {
  std::string name;
  std::optional<HostTensor> tensor;  // its initial content; restored before each check
  runtime::Arg scalar;               // when there is no tensor
};

// One launch, but for its config.
struct Workload {
  std::shared_ptr<const frontend::Program> program;
  std::string kernel;
  std::vector<WorkArgument> arguments;
  std::map<std::string, frontend::Constant> constants;  // those that no config binds
  std::function<Result<std::array<uint32_t, 3>>(const Config&)> grid;
};

// Compares the tensors after a launch, in the order of the workload's arguments, with what is
// right: the largest relative error, or the error `wrong-result`.
using Checker = std::function<Result<double>(const std::vector<HostTensor>& outputs)>;

// The first candidate's result is the reference of the rest: finds candidates that disagree.
Checker check_against_first();
// Runs the workload once on the CPU backend (with `config`) and compares within the dtypes' bounds.
Result<Checker> check_against_cpu(const Workload& workload, const Config& config);
// The relative error allowed for a tensor of the dtype that came about through sums in f32.
double allowed_error(Dtype dtype);

class KernelTrial : public Trial {
 public:
  // Uploads the tensors. Errors: `out-of-memory`, `cuda-error`.
  static Result<std::unique_ptr<KernelTrial>> create(
      Workload workload, runtime::Device device, std::shared_ptr<runtime::CompileService> service,
      Checker checker);
  ~KernelTrial() override;

  Result<Built> build(const Config& config) override;
  Result<double> check(const Built& built) override;
  Result<std::vector<double>> time(const Built& built) override;

  // Runs a config once on fresh inputs and gives the tensors afterwards, in argument order.
  Result<std::vector<HostTensor>> run(const Config& config);
  // The key under which this workload's measurements are kept. The shape is the decorator's `key`
  // arguments, or all integer arguments without one.
  Key key() const;

 private:
  struct Impl;
  explicit KernelTrial(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::autotune
