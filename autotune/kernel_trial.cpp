#include "autotune/kernel_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dsl/base/check.h"

namespace tilewright::autotune {
namespace {

using device::CUstream;
using device::Event;
using device::Gpu;
using device::Stream;

// Enough launches for a stable median, few enough for a sweep: about kBudgetNs a candidate.
constexpr double kBudgetNs = 100e6;
constexpr double kSampleNs = 50e3;  // launches shorter than this are timed several at a time
constexpr int kMaxSamples = 20, kMinSamples = 3;

double elapsed_ns(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// A tensor's memory on the device: its own bytes on the host, an allocation on a GPU.
class Placement {
 public:
  Placement(const HostTensor& initial, const Gpu* gpu) : initial_(initial), gpu_(gpu) {}
  Placement(Placement&& other) noexcept
      : initial_(other.initial_),
        gpu_(other.gpu_),
        allocation_(std::exchange(other.allocation_, 0)),
        host_(std::move(other.host_)) {}
  Placement& operator=(Placement&&) = delete;
  ~Placement() {
    if (allocation_) gpu_->free(allocation_);
  }

  Status allocate() {
    if (!gpu_) {
      host_.assign(initial_.bytes.size() + 64, 0);
      return {};
    }
    TW_ASSIGN(allocation_, gpu_->allocate(std::max<size_t>(initial_.bytes.size(), 16)));
    return {};
  }
  Status restore(CUstream stream) {
    if (gpu_)
      return gpu_->upload(allocation_, initial_.bytes.data(), initial_.bytes.size(), stream);
    std::copy(initial_.bytes.begin(), initial_.bytes.end(), host_data());
    return {};
  }
  Status fetch(HostTensor& out, CUstream stream) {
    out = HostTensor{initial_.dtype, initial_.shape, std::vector<uint8_t>(initial_.bytes.size())};
    if (gpu_) return gpu_->download(out.bytes.data(), allocation_, out.bytes.size(), stream);
    std::copy_n(host_data(), out.bytes.size(), out.bytes.begin());
    return {};
  }
  runtime::Arg arg() {
    uint64_t address = gpu_ ? allocation_ : reinterpret_cast<uint64_t>(host_data());
    return runtime::Arg::pointer(address, initial_.dtype, initial_.bytes.size());
  }

 private:
  uint8_t* host_data() {  // 64-byte aligned, as device allocations are at least
    auto address = reinterpret_cast<uintptr_t>(host_.data());
    return host_.data() + (64 - address % 64) % 64;
  }

  const HostTensor& initial_;
  const Gpu* gpu_;
  uint64_t allocation_ = 0;
  std::vector<uint8_t> host_;
};

struct Candidate {
  std::unique_ptr<Config> config;  // owns what the arguments borrow
  const runtime::Variant* variant = nullptr;
  runtime::LaunchOptions options;
  std::vector<runtime::NamedArg> arguments;
};

runtime::CallOptions call_options(const Config& config) {
  runtime::CallOptions options;
  options.num_warps = config.num_warps;
  options.num_stages = config.num_stages;
  options.maxnreg = config.maxnreg;
  return options;
}

}  // namespace

struct KernelTrial::Impl {
  Workload workload;
  runtime::Device device;
  std::shared_ptr<runtime::CompileService> service;
  Checker checker;
  std::shared_ptr<runtime::Kernel> kernel;
  std::vector<Placement> placements;  // of the tensors, in argument order
  std::optional<Stream> stream;       // on a GPU

  CUstream queue() const { return stream ? stream->get() : nullptr; }

  // Arguments by name, then the constants of workload and config.
  std::vector<runtime::NamedArg> named(const Config& config) {
    std::vector<runtime::NamedArg> out;
    size_t tensor = 0;
    for (const WorkArgument& argument : workload.arguments)
      out.push_back(
          {argument.name, argument.tensor ? placements[tensor++].arg() : argument.scalar, nullptr});
    for (auto& [name, value] : workload.constants)
      if (!config.constants.contains(name)) out.push_back({name, {}, &value});
    for (auto& [name, value] : config.constants) out.push_back({name, {}, &value});
    return out;
  }

  Result<std::shared_ptr<Candidate>> prepare(const Config& config) {
    auto candidate = std::make_shared<Candidate>();
    TW_ASSIGN(candidate->options.grid, workload.grid(config));
    candidate->options.call = call_options(config);
    candidate->options.stream = queue();
    candidate->config = std::make_unique<Config>(config);
    candidate->arguments = named(*candidate->config);
    // Compiling outside of the kernel's own lock lets builds run in parallel; prepare() finds it
    // done.
    TW_TRY(warm_up_compiler(config, candidate->arguments));
    TW_ASSIGN(candidate->variant, kernel->prepare(candidate->options, {}, candidate->arguments));
    return candidate;
  }

  Status warm_up_compiler(const Config& config, const std::vector<runtime::NamedArg>& arguments) {
    auto compiled = kernel->compile_for(device.platform(), call_options(config), {}, arguments);
    return compiled ? Status() : Status(compiled.error());
  }

  Status restore() {
    for (Placement& placement : placements) TW_TRY(placement.restore(queue()));
    return {};
  }
  Status launch(const Candidate& candidate) {
    return kernel->launch_variant(*candidate.variant, candidate.options, {}, candidate.arguments);
  }
  Status finish() { return device.gpu() ? device.gpu()->synchronize(queue()) : Status(); }

  Result<std::vector<HostTensor>> run(const Candidate& candidate) {
    TW_TRY(restore());
    TW_TRY(launch(candidate));
    TW_TRY(finish());
    std::vector<HostTensor> outputs(placements.size());
    for (size_t i = 0; i < placements.size(); ++i) TW_TRY(placements[i].fetch(outputs[i], queue()));
    TW_TRY(finish());
    return outputs;
  }

  // Nanoseconds of `count` launches in a row.
  Result<double> time_batch(const Candidate& candidate, int count) {
    if (!device.gpu()) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < count; ++i) TW_TRY(launch(candidate));
      return elapsed_ns(start);
    }
    TW_ASSIGN(auto begin, Event::create(*device.gpu()));
    TW_ASSIGN(auto end, Event::create(*device.gpu()));
    TW_TRY(begin.record(queue()));
    for (int i = 0; i < count; ++i) TW_TRY(launch(candidate));
    TW_TRY(end.record(queue()));
    TW_TRY(end.synchronize());
    TW_ASSIGN(double milliseconds, end.milliseconds_since(begin));
    return milliseconds * 1e6;
  }
};

KernelTrial::KernelTrial(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KernelTrial::~KernelTrial() = default;

Result<std::unique_ptr<KernelTrial>> KernelTrial::create(
    Workload workload, runtime::Device device, std::shared_ptr<runtime::CompileService> service,
    Checker checker) {
  auto impl = std::make_unique<Impl>(Impl{
      std::move(workload), std::move(device), std::move(service), std::move(checker), {}, {}, {}});
  TW_ASSIGN(impl->kernel, runtime::Kernel::create(impl->workload.program, impl->workload.kernel,
                                                  impl->service, impl->device));
  if (impl->device.gpu()) {
    TW_ASSIGN(auto stream, Stream::create(*impl->device.gpu()));
    impl->stream.emplace(std::move(stream));
  }
  for (const WorkArgument& argument : impl->workload.arguments) {
    if (!argument.tensor) continue;
    impl->placements.emplace_back(*argument.tensor, impl->device.gpu());
    TW_TRY(impl->placements.back().allocate());
  }
  TW_TRY(impl->restore());
  TW_TRY(impl->finish());
  return std::unique_ptr<KernelTrial>(new KernelTrial(std::move(impl)));
}

Result<Built> KernelTrial::build(const Config& config) {
  TW_ASSIGN(auto candidate, impl_->prepare(config));
  const runtime::CompiledKernel& compiled = *candidate->variant->compiled;
  return Built{candidate, compiled.resources.registers, compiled.resources.shared_bytes,
               compiled.resources.spill_instructions};
}

Result<double> KernelTrial::check(const Built& built) {
  TW_ASSIGN(auto outputs, impl_->run(*static_cast<Candidate*>(built.handle.get())));
  return impl_->checker(outputs);
}

Result<std::vector<double>> KernelTrial::time(const Built& built) {
  auto& candidate = *static_cast<Candidate*>(built.handle.get());
  TW_ASSIGN(double first, impl_->time_batch(candidate, 1));  // warms up caches and clocks as well
  int batch = std::clamp(static_cast<int>(kSampleNs / std::max(first, 1.0)), 1, 1000);
  TW_ASSIGN(double warm, impl_->time_batch(candidate, batch));
  int count =
      std::clamp(static_cast<int>(kBudgetNs / std::max(warm, 1.0)), kMinSamples, kMaxSamples);
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    TW_ASSIGN(double total, impl_->time_batch(candidate, batch));
    samples.push_back(total / batch);
  }
  return samples;
}

Result<std::vector<HostTensor>> KernelTrial::run(const Config& config) {
  TW_ASSIGN(auto candidate, impl_->prepare(config));
  return impl_->run(*candidate);
}

namespace {

// The versions whose change may change what is fastest.
std::string compiler_name(runtime::Backend backend) {
  std::string name = "tilewright-" TILEWRIGHT_VERSION;
  if (backend == runtime::Backend::kCpu) return name + " " + cpu::target_description();
  if (backend != runtime::Backend::kCuda) return name;
  auto nvrtc = cuda::nvrtc_info();
  return nvrtc ? fmt::format("{} nvrtc-{}.{}", name, nvrtc->major, nvrtc->minor) : name;
}

}  // namespace

Key KernelTrial::key() const {
  const Workload& workload = impl_->workload;
  const frontend::KernelInfo& info = impl_->kernel->info();
  std::vector<std::string> dtypes;
  std::map<std::string, int64_t> shape;
  for (const frontend::ParamInfo& param : info.params)
    for (const WorkArgument& argument : workload.arguments) {
      if (argument.name != param.name) continue;
      if (argument.tensor) dtypes.emplace_back(dtype_name(argument.tensor->dtype));
      bool in_key = info.autotune_key.empty() ||
                    std::find(info.autotune_key.begin(), info.autotune_key.end(), param.name) !=
                        info.autotune_key.end();
      if (!argument.tensor && argument.scalar.kind == runtime::Arg::Kind::kInt && in_key)
        shape[param.name] = static_cast<int64_t>(argument.scalar.bits);
    }
  Key key;
  key.kernel = kernel_key(info.name, dsl::print(workload.program->ast()));
  key.problem = problem_key(dtypes, shape);
  for (auto& [name, value] : workload.constants)
    key.problem += fmt::format(",{}={}", name, to_string(value));
  key.device = impl_->device.gpu() ? fmt::format("cuda:{}:{}", impl_->device.platform().name(),
                                                 impl_->device.gpu()->info().name)
                                   : impl_->device.description();
  key.compiler = compiler_name(impl_->device.platform().backend);
  return key;
}

// ---- checks ----

double allowed_error(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 1e-12;
    case Dtype::kF32:
      return 2e-3;  // products may be TF32
    case Dtype::kF16:
      return 2e-3;
    case Dtype::kBF16:
      return 1.6e-2;
    case Dtype::kF8E4M3:
      return 1.3e-1;
    case Dtype::kF8E5M2:
      return 2.6e-1;
    default:
      return 0;
  }
}

namespace {

Result<double> compare_all(const std::vector<HostTensor>& outputs,
                           const std::vector<HostTensor>& reference) {
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    double error = relative_error(outputs[i], reference[i]);
    if (!(error <= allowed_error(outputs[i].dtype)))
      return make_error(
          DiagKind::kWrongResult,
          fmt::format("tensor {} differs from the reference by {:.2e}, allowed is {:.1e}", i, error,
                      allowed_error(outputs[i].dtype)));
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace

Checker check_against_first() {
  auto reference = std::make_shared<std::vector<HostTensor>>();
  return [reference](const std::vector<HostTensor>& outputs) -> Result<double> {
    if (reference->empty()) *reference = outputs;
    return compare_all(outputs, *reference);
  };
}

Result<Checker> check_against_cpu(const Workload& workload, const Config& config) {
  TW_ASSIGN(auto cpu, runtime::Device::open("cpu"));
  TW_ASSIGN(auto trial,
            KernelTrial::create(workload, cpu, std::make_shared<runtime::CompileService>(), {}));
  TW_ASSIGN(auto outputs, trial->run(config));
  auto reference = std::make_shared<std::vector<HostTensor>>(std::move(outputs));
  return Checker([reference](const std::vector<HostTensor>& results) {
    return compare_all(results, *reference);
  });
}

}  // namespace tilewright::autotune
