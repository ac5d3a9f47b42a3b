// A kernel of a program on a device: specialises when called, keeps what it compiled, launches.
// The C++, C and Python interfaces, the tuner and the tools are all thin layers over this.
//
// A warm launch (values that specialise like earlier ones) takes no lock, allocates nothing and
// hashes no string: it packs one byte an argument and one word a constant into a key, and compares
// it with the variants seen so far.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/compile/binding.h"
#include "runtime/compile/compile.h"
#include "runtime/device/device.h"

namespace tilewright::runtime {

// Where launches go. A GPU, or the host under one of three executors.
class Device {
 public:
  // "cuda", "cuda:1", "cpu", "emulated", "emulated:sm_90", "interp"; "auto": the first GPU that
  // there is code for, else cpu, else (built without LLVM) interp.
  static Result<Device> open(std::string_view name);
  static Result<Device> cuda(int ordinal);

  const Platform& platform() const { return platform_; }
  device::Gpu* gpu() const { return gpu_; }  // null on the host
  bool is_cuda() const { return gpu_ != nullptr; }
  // "cuda:0 (NVIDIA H200, sm_90)", "cpu (znver4/llvm-19.1.7, 2 threads)".
  std::string description() const;

 private:
  Platform platform_;
  device::Gpu* gpu_ = nullptr;
};

struct LaunchOptions {
  std::array<uint32_t, 3> grid = {1, 1, 1};  // an empty axis means that nothing runs
  void* stream = nullptr;  // CUstream; its context decides the device. Null: the device's default
  CallOptions call;
  int threads = 0;  // kCpu: 0 = one per hardware thread
};

// A compiled specialisation together with how its slots are filled.
struct Variant {
  CompiledPtr compiled;
  frontend::Specialization specialization;
  std::vector<SlotPlan> slots;
};

class Kernel {
 public:
  // `no-kernel` when the program has no such function (lists those it has).
  static Result<std::shared_ptr<Kernel>> create(std::shared_ptr<const frontend::Program> program,
                                                std::string name,
                                                std::shared_ptr<CompileService> service,
                                                Device device);
  ~Kernel();

  const std::string& name() const { return info_.name; }
  const frontend::KernelInfo& info() const { return info_; }
  const std::shared_ptr<const frontend::Program>& program() const { return program_; }
  const Device& device() const { return device_; }

  // Compiles if this specialisation is new, then runs. On a GPU the work is put on the stream and
  // the call returns; on the host it returns when the grid is done.
  Status launch(const LaunchOptions& options, std::span<const Arg> positional,
                std::span<const NamedArg> named);
  // What launch() does up to the launch itself, module loading included: afterwards launches with
  // values that specialise alike may be captured into a CUDA graph.
  Result<const Variant*> prepare(const LaunchOptions& options, std::span<const Arg> positional,
                                 std::span<const NamedArg> named);
  // Launches a prepared variant with the arguments of a call like the one that prepared it, without
  // looking at how they specialise.
  Status launch_variant(const Variant& variant, const LaunchOptions& options,
                        std::span<const Arg> positional, std::span<const NamedArg> named);
  // Compiles for another platform, without running (tuning for absent devices, export).
  Result<CompiledPtr> compile_for(const Platform& platform, const CallOptions& options,
                                  std::span<const Arg> positional,
                                  std::span<const NamedArg> named) const;

 private:
  struct Node;
  struct Key;
  struct Sibling;
  // The kernel and context that a launch on a stream belongs to.
  struct Place {
    Kernel* kernel = nullptr;
    device::CUcontext context = nullptr;
  };

  Kernel(std::shared_ptr<const frontend::Program> program, frontend::KernelInfo info,
         std::shared_ptr<CompileService> service, Device device);
  Result<Place> place_of(void* stream);
  Result<Place> place_of_foreign(device::CUcontext context);
  Status make_key(Key& key, const CallOptions& options, std::span<const Arg> positional,
                  std::span<const NamedArg> named) const;
  const Node* find(const Key& key) const;
  Result<const Node*> find_or_add(const CallOptions& options, std::span<const Arg> positional,
                                  std::span<const NamedArg> named);
  Result<const Node*> add(const Key& key, const CallOptions& options,
                          std::span<const Arg> positional, std::span<const NamedArg> named);
  Status check_memory(std::span<const Arg> positional, std::span<const NamedArg> named) const;
  Status run(const Variant& variant, device::CUcontext context, const LaunchOptions& options,
             std::span<const Arg> positional, std::span<const NamedArg> named) const;
  Status run_on_host(const Variant& variant, const LaunchOptions& options,
                     std::span<const uint64_t> slots, std::span<const Arg> positional,
                     std::span<const NamedArg> named) const;

  std::shared_ptr<const frontend::Program> program_;
  frontend::KernelInfo info_;
  std::shared_ptr<CompileService> service_;
  Device device_;
  std::atomic<const Node*> newest_{nullptr};  // a list that only grows until the kernel dies
  mutable std::atomic<const Node*> last_hit_{nullptr};
  std::atomic<const Sibling*> siblings_{nullptr};  // likewise
  std::mutex add_mutex_;
};

}  // namespace tilewright::runtime
