// The executors that need no GPU: interpreter, CPU, emulated CUDA. Each compiles once what several
// launches share and checks, where it can, that a kernel touches its own buffers only.
#include "codegen/cpu/cpu.h"
#include "codegen/cuda/cuda.h"
#include "codegen/interp/interp.h"
#include "tests/kernels/build_checks.h"
#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

Result<std::vector<uint64_t>> pack(const LaunchSpec& spec, const ir::Module& module) {
  std::vector<uint64_t> slots;
  for (const ir::Param& param : module.params) {
    const LaunchArgument* found = nullptr;
    for (const LaunchArgument& argument : spec.arguments)
      if (argument.name == param.name) found = &argument;
    if (!found) return make_error(DiagKind::kInternal, "no argument for parameter " + param.name);
    switch (found->kind) {
      case LaunchArgument::Kind::kBuffer:
        slots.push_back(reinterpret_cast<uint64_t>(found->buffer->data()));
        break;
      case LaunchArgument::Kind::kInt:
        slots.push_back(static_cast<uint64_t>(found->integer));
        break;
      case LaunchArgument::Kind::kFloat:
        slots.push_back(float_to_bits(found->number, Dtype::kF32));
        break;
      case LaunchArgument::Kind::kNone:
        return make_error(DiagKind::kInternal, "None is a constant");
    }
  }
  return slots;
}

std::function<bool(uint64_t, size_t, bool)> access_check(const LaunchSpec& spec) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const LaunchArgument& argument : spec.arguments)
    if (argument.kind == LaunchArgument::Kind::kBuffer) {
      auto begin = reinterpret_cast<uint64_t>(argument.buffer->data());
      ranges.emplace_back(begin, begin + argument.buffer->bytes());
    }
  return [ranges](uint64_t address, size_t bytes, bool) {
    for (auto [begin, end] : ranges)
      if (address >= begin && address + bytes <= end) return true;
    return false;
  };
}

namespace {

// What launches of equal modules share, made at the first of them.
template <class T>
class Memo {
 public:
  template <class Make>
  Result<T*> get(const LaunchSpec& spec, Make make) {
    TW_ASSIGN(std::string key, key_of(spec));
    auto it = made_.find(key);
    if (it == made_.end()) {
      TW_ASSIGN(auto module, lower(spec));
      TW_ASSIGN(T value, make(std::move(module)));
      it = made_.emplace(std::move(key), std::move(value)).first;
    }
    return &it->second;
  }
  std::map<std::string, T>& all() { return made_; }

 private:
  std::map<std::string, T> made_;
};

// With a target: the module as its schedule pass leaves it, with copies that land as late as they
// may.
class Interpreter : public Executor {
 public:
  explicit Interpreter(const Target* scheduled_for = nullptr) : target_(scheduled_for) {}
  std::string name() const override {
    return target_ ? "scheduled " + std::string(target_->name) : "interp";
  }
  Status launch(const LaunchSpec& spec) override {
    TW_ASSIGN(auto module, modules_.get(spec, [&](ir::Module m) -> Result<ir::Module> {
      if (target_) schedule::schedule(m, *target_);
      return m;
    }));
    TW_ASSIGN(auto slots, pack(spec, *module));
    interp::Options options;
    options.may_access = access_check(spec);
    return interp::run(*module, {spec.grid, slots}, options);
  }

 private:
  const Target* target_;
  Memo<ir::Module> modules_;
};

class Cpu : public Executor {
 public:
  std::string name() const override { return "cpu"; }
  Status launch(const LaunchSpec& spec) override {
    TW_ASSIGN(auto made, kernels_.get(spec, [](ir::Module module) -> Result<Made> {
      TW_ASSIGN(auto kernel, cpu::compile(module));
      return Made{std::move(module), std::move(kernel)};
    }));
    TW_ASSIGN(auto slots, pack(spec, made->module));
    return made->kernel->run({spec.grid, slots});
  }

 private:
  struct Made {
    ir::Module module;
    std::shared_ptr<cpu::Kernel> kernel;
  };
  Memo<Made> kernels_;
};

class Emulated : public Executor {
 public:
  explicit Emulated(const Target& target) : target_(target) {}
  std::string name() const override { return "emulated " + std::string(target_.name); }
  bool runs() const override { return !collecting_; }
  Status launch(const LaunchSpec& spec) override {
    TW_ASSIGN(auto made, kernels_.get(spec, [&](ir::Module module) -> Result<Made> {
      TW_ASSIGN(auto source, cuda::emit(module, target_));
      return Made{std::move(module), std::move(source), nullptr};
    }));
    if (collecting_) return {};
    if (!made->kernel) {
      TW_ASSIGN(made->kernel, cuda::emulate(made->source));
    }
    TW_ASSIGN(auto slots, pack(spec, made->module));
    cuda::EmulatorOptions options;
    options.may_access = access_check(spec);
    return made->kernel->run({spec.grid, slots}, options);
  }
  bool collect(bool start) override {
    collecting_ = start;
    if (start) return true;
    std::vector<cuda::Source> sources;
    for (auto& [key, made] : kernels_.all()) sources.push_back(made.source);
    auto kernels = cuda::emulate_all(sources);
    size_t i = 0;
    for (auto& [key, made] : kernels_.all()) made.kernel = kernels[i++];
    return true;
  }

 private:
  struct Made {
    ir::Module module;
    cuda::Source source;
    std::shared_ptr<cuda::EmulatedKernel> kernel;
  };
  const Target& target_;
  bool collecting_ = false;
  Memo<Made> kernels_;
};

// Builds every launch to a cubin and judges it; nothing runs, so outputs are not compared.
class Build : public Executor {
 public:
  explicit Build(const Target& target) : target_(target) {}
  std::string name() const override { return "build " + std::string(target_.name); }
  bool runs() const override { return false; }
  Status launch(const LaunchSpec& spec) override { return build_for(spec, target_); }

 private:
  const Target& target_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(std::string_view device) {
  if (device == "interp") return std::unique_ptr<Executor>(std::make_unique<Interpreter>());
  if (device == "cpu") return std::unique_ptr<Executor>(std::make_unique<Cpu>());
  for (std::string_view prefix : {"emulated", "build", "scheduled", "mutants"}) {
    if (!device.starts_with(prefix)) continue;
    std::string_view arch = device.substr(std::min(device.size(), prefix.size() + 1));
    const Target* target = find_target(arch.empty() ? "sm_80" : arch);
    if (!target) return make_error(DiagKind::kIo, "unknown target " + std::string(arch));
    if (prefix == "build") return std::unique_ptr<Executor>(std::make_unique<Build>(*target));
    if (prefix == "scheduled")
      return std::unique_ptr<Executor>(std::make_unique<Interpreter>(target));
    if (prefix == "mutants") return make_mutants_executor(*target);
    return std::unique_ptr<Executor>(std::make_unique<Emulated>(*target));
  }
  if (device.starts_with("runtime:")) return make_runtime_executor(device.substr(8));
  if (device.starts_with("cuda")) return make_runtime_executor(device);
  return make_error(
      DiagKind::kIo, "unknown device " + std::string(device),
      "interp, scheduled[:sm_NN], cpu, emulated[:sm_NN], build[:sm_NN], mutants[:sm_NN], "
      "cuda[:N], runtime:DEVICE");
}

}  // namespace tilewright::kernel_tests
