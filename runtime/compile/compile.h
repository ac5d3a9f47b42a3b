// Compiling a specialised kernel for a platform, with caches in memory and on disk.
//
//   Program + kernel + Specialization + Platform -> CompiledKernel
//   lower -> passes -> (interp: done) -> emit -> NVRTC or the host compiler or LLVM
//
// Two keys lead to a cubin on disk. The fast one covers the source text, the specialisation, the
// target and the versions of everything, so a warm start lowers nothing. The exact one covers the
// emitted CUDA text, so an edit that changes no code (a comment, an unrelated function) costs the
// front end but not NVRTC.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/cpu/cpu.h"
#include "codegen/cuda/cuda.h"
#include "codegen/ir/module.h"
#include "codegen/target/target.h"
#include "frontend/frontend.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/launch/function.h"

namespace tilewright::runtime {

enum class Backend : uint8_t { kCuda, kCpu, kEmulated, kInterp };
std::string_view backend_name(Backend backend);  // cuda, cpu, emulated, interp

// What code is made for. `target` is set for kCuda and kEmulated.
struct Platform {
  Backend backend = Backend::kCpu;
  const Target* target = nullptr;

  // "cpu", "interp", "sm_90", "emulated:sm_80": in keys, databases and messages.
  std::string name() const;
  friend bool operator==(const Platform&, const Platform&) = default;
};
// Parses name(); `cuda` and `emulated` without a target mean the newest common one (sm_80).
Result<Platform> parse_platform(std::string_view name);

struct CompileRequest {
  std::shared_ptr<const frontend::Program> program;
  std::string kernel;
  frontend::Specialization specialization;
  Platform platform;
  bool line_info = false;  // tie code to source lines (kCuda); part of the keys
  // Checked between stages; the result is then the error `interrupted`.
  std::stop_token stop;
  // Called as each stage starts: "lower", "passes", "emit", "nvrtc", "llvm", "host-compiler".
  std::function<void(std::string_view stage)> on_stage;
};

// The result: immutable but for the modules loaded into contexts, shared between threads.
struct CompiledKernel {
  std::string kernel;
  Platform platform;
  std::shared_ptr<const frontend::Program> program;  // for the source lines of run-time errors
  std::string key;               // hex of the fast key; names this code in databases and logs
  std::vector<ir::Type> params;  // of the run-time parameters, in order
  bool from_disk = false;        // the cubin came from the disk cache
  double compile_ms = 0;         // wall time of this compile; of loading it when from_disk

  // kCuda. After a disk hit `source` has no text.
  cuda::Source source;
  cuda::Resources resources;
  std::string log;
  std::unique_ptr<launch::Function> function;  // cubin, loaded into contexts on demand
  // kCpu, kEmulated, kInterp
  std::shared_ptr<const cpu::Kernel> cpu;
  std::shared_ptr<const cuda::EmulatedKernel> emulated;
  std::shared_ptr<const ir::Module> module;
};
using CompiledPtr = std::shared_ptr<const CompiledKernel>;

// The module after lowering and the target-independent passes.
Result<ir::Module> build_ir(const CompileRequest& request);

struct CompileCounters {
  uint64_t requests = 0;     // calls of compile()
  uint64_t memory_hits = 0;  // answered from memory, or by a compile already in flight
  uint64_t disk_hits = 0;    // cubins from disk by the fast key
  uint64_t exact_hits = 0;   // cubins from disk by the emitted text
  uint64_t compiled = 0;     // went through the whole pipeline
};

// Thread-safe. Equal requests that overlap compile once; failures are not kept.
class CompileService {
 public:
  explicit CompileService(cache::CacheOptions options = cache::CacheOptions::from_environment());
  ~CompileService();

  Result<CompiledPtr> compile(const CompileRequest& request);
  cache::DiskCache& disk() { return disk_; }
  CompileCounters counters() const;

 private:
  struct InFlight;
  Result<CompiledPtr> compile_uncached(const CompileRequest& request, const cache::Hash128& key);
  Status compile_cuda(const CompileRequest& request, const cache::Hash128& key,
                      CompiledKernel& out);
  Status compile_host(const CompileRequest& request, CompiledKernel& out) const;

  cache::DiskCache disk_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<InFlight>> known_;  // by hex key; never iterated
  CompileCounters counters_;
};

// The fast key of a request.
cache::Hash128 request_key(const CompileRequest& request);
// Identifies this build of the compiler: in keys, so that no cache outlives the code that filled
// it.
std::string_view compiler_identity();

}  // namespace tilewright::runtime
