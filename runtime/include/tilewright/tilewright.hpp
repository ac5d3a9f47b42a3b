// Tilewright: Triton kernels, compiled and launched from C++.
//
//   namespace tw = tilewright;
//   tw::Context ctx;                                     // the first GPU, else the CPU
//   tw::Kernel add = ctx.compile("add.py", "add").value();
//   add.launch({.grid = {tw::cdiv(n, 1024)}, .constants = {{"BLOCK", 1024}}}, x, y, out,
//   n).value();
//
// The text of a kernel is that of a @triton.jit function. A launch specialises it, as Triton does,
// for the types of the arguments, for integers equal to 1 or divisible by 2, 4, 8 or 16, and for
// pointers aligned to 16 bytes; what was compiled is kept in memory and on disk.
//
// Everything that can fail returns Result<T>: test it, or call value(), which throws tw::Error with
// the whole diagnostic. Everything may be called from several threads at once, except that one
// object must not be assigned or destroyed while another thread uses it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/api.h"
#include "dsl/base/dtype.h"
#include "dsl/base/result.h"
#include "tilewright/argument.hpp"

namespace tilewright {

namespace runtime {
class CompileService;
class Device;
class Kernel;
}  // namespace runtime

// The quotient rounded up: how many blocks of b cover a.
template <std::integral A, std::integral B>
constexpr uint32_t cdiv(A a, B b) {
  return static_cast<uint32_t>((a + static_cast<A>(b) - 1) / static_cast<A>(b));
}

// Numbers of program instances along the three axes. Nothing runs if one is 0.
struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

struct LaunchOptions {
  Grid grid{};
  // A CUstream or cudaStream_t. The launch happens in its context, on its device. Null: the default
  // stream of the Context's device. Must be null on the host devices.
  void* stream = nullptr;
  int num_warps = 0;   // 0: 4
  int num_stages = 0;  // 0: 3
  Constants constants{};
  bool fp_fusion = true;  // a*b+c as one fma
  bool debug = false;     // keep the kernel's assertions
  int threads = 0;        // on the CPU; 0: one per hardware thread
  int maxnreg = 0;        // registers a thread may use at most on a GPU; 0: as many as there are
};

// What a compiled specialisation needs. Zeros on the host devices.
struct KernelResources {
  int registers = 0;     // per thread
  int shared_bytes = 0;  // per block, static and dynamic
  int stack_bytes = 0;   // per thread
  int spills = 0;        // instructions that spill
  int code_bytes = 0;
  int threads = 0;         // per block
  bool from_disk = false;  // came from the disk cache
  double compile_ms = 0;
  std::string target;  // "sm_90", "cpu", …
};

// A kernel on a device. Cheap to copy; copies share what was compiled.
class TILEWRIGHT_API Kernel {
 public:
  const std::string& name() const;
  // `add(x, y, out, n, BLOCK: constexpr)`.
  std::string signature() const;

  // Positional arguments fill the kernel's parameters in order, leaving out those that
  // options.constants names. Pointers are typed by their C++ type; void* by the parameter's
  // annotation. On a GPU the work is queued and the call returns; on the host it has been done.
  // Errors, all before anything runs: `missing-argument`, `unknown-argument`, `bad-argument`,
  // `bad-launch`, whatever compiling says (with carets), and the driver's.
  template <class... Args>
  Status launch(const LaunchOptions& options, const Args&... args) const {
    const std::array<Argument, sizeof...(Args)> packed{to_argument(args)...};
    return launch_packed(options, packed);
  }
  template <class... Args>
  Status operator()(const LaunchOptions& options, const Args&... args) const {
    return launch(options, args...);
  }
  // Compiles and loads what launch() with such arguments needs. Afterwards launches whose arguments
  // specialise alike can be captured into a CUDA graph.
  template <class... Args>
  Result<KernelResources> prepare(const LaunchOptions& options, const Args&... args) const {
    const std::array<Argument, sizeof...(Args)> packed{to_argument(args)...};
    return prepare_packed(options, packed);
  }
  // The same for arguments made at run time.
  Status launch_packed(const LaunchOptions& options, std::span<const Argument> arguments) const;
  Result<KernelResources> prepare_packed(const LaunchOptions& options,
                                         std::span<const Argument> arguments) const;

  // For other parts of tilewright.
  explicit Kernel(std::shared_ptr<runtime::Kernel> kernel) : kernel_(std::move(kernel)) {}
  const std::shared_ptr<runtime::Kernel>& internal() const { return kernel_; }

 private:
  std::shared_ptr<runtime::Kernel> kernel_;
};

// A function of a kernel with the parameters' C++ types fixed, so that wrong calls do not compile:
//   tw::TypedKernel<float*, float*, int> scale(kernel, {.constants = {{"BLOCK", 1024}}});
//   scale({rows}, stream, x, y, n).value();
template <class... Params>
class TypedKernel {
 public:
  TypedKernel(Kernel kernel, LaunchOptions defaults)
      : kernel_(std::move(kernel)), defaults_(defaults) {}
  Status operator()(Grid grid, void* stream, Params... args) const {
    LaunchOptions options = defaults_;
    options.grid = grid;
    options.stream = stream;
    return kernel_.launch(options, args...);
  }

 private:
  Kernel kernel_;
  LaunchOptions defaults_;
};

// Memory of a Context's device, freed with the object. Host devices give host memory, aligned to
// 256 bytes.
class TILEWRIGHT_API Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  template <Element T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  // Copies the first `bytes` bytes; on a GPU after the work queued on `stream`. Both return when
  // the host memory may be used again.
  Status upload(const void* from, size_t bytes, void* stream = nullptr);
  Status download(void* to, size_t bytes, void* stream = nullptr) const;

 private:
  friend class Context;
  Buffer(std::shared_ptr<const runtime::Device> device, void* data, size_t bytes);
  std::shared_ptr<const runtime::Device> device_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

struct DeviceDescription {
  std::string kind;    // cuda, cpu, emulated, interp
  std::string name;    // "NVIDIA H200"; the CPU and compiler; ""
  std::string target;  // "sm_90", "cpu", "emulated:sm_80", "interp"
  int ordinal = -1;    // of CUDA devices
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  std::string text;  // all of it in a line
};

struct CacheStatistics {
  uint64_t compiled = 0;     // went through the whole pipeline
  uint64_t memory_hits = 0;  // had been compiled by this Context
  uint64_t disk_hits = 0;    // cubins that came from disk
  std::string directory;     // of the disk cache; empty: off
};

// A value for a free name of a kernel's text: what the module around it would have defined. `tl`
// and `triton` need none: they mean Triton's modules unless the text defines them. `function` names
// a @triton.jit function of the same text.
struct EnvironmentValue {
  Value value;
  std::string function;
  template <class T>
  requires std::convertible_to<const T&, Value> EnvironmentValue(const T& constant)
      : value(constant) {}  // NOLINT: implicit
  static EnvironmentValue function_named(std::string name) {
    EnvironmentValue out(nullptr);
    out.function = std::move(name);
    return out;
  }
};

struct CompileOptions {
  std::map<std::string, EnvironmentValue> environment{};
  std::string path{};  // shown in messages, for source text
};

struct ContextOptions {
  // "auto" (the first GPU there is code for, else the CPU), "cuda", "cuda:1", "cpu", "interp",
  // "emulated", "emulated:sm_90".
  std::string device = "auto";
  std::string cache = "";  // directory of the disk cache, or `off`; empty: see below
};

// A device and what was compiled for it. Without ContextOptions::cache the disk cache lies in
// TILEWRIGHT_CACHE (a directory, or `off`), else $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright.
class TILEWRIGHT_API Context {
 public:
  // The first GPU that there is code for, else the CPU. Does not fail.
  Context();
  static Result<Context> open(const ContextOptions& options);
  static Result<Context> open(std::string_view device);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  DeviceDescription device() const;
  // Reads a file, or takes text that has a line break as the source itself, and finds a kernel in
  // it. Nothing is compiled yet. Errors: `io`, `syntax` and its like, `no-kernel`.
  Result<Kernel> compile(std::string_view path_or_source, std::string_view kernel,
                         const CompileOptions& options = {}) const;
  // `out-of-memory` says how much there is.
  Result<Buffer> allocate(size_t bytes) const;
  // Waits for the stream, or for everything on the device when null. Errors of kernels show here.
  Status synchronize(void* stream = nullptr) const;
  CacheStatistics cache() const;

  // For other parts of tilewright.
  const runtime::Device& internal_device() const { return *device_; }
  const std::shared_ptr<runtime::CompileService>& internal_service() const { return service_; }

 private:
  Context(std::shared_ptr<const runtime::Device> device,
          std::shared_ptr<runtime::CompileService> service);
  std::shared_ptr<const runtime::Device> device_;
  std::shared_ptr<runtime::CompileService> service_;
};

// "0.1.0".
TILEWRIGHT_API std::string_view version();

}  // namespace tilewright
