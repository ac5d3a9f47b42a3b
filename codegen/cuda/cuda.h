// The CUDA backend: tile IR -> header-free CUDA C++ text -> cubin (NVRTC) or emulation on the host.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/execution.h"
#include "codegen/ir/module.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tilewright::cuda {

struct Options {
  bool line_info = false;              // #line directives into the kernel's own source
  const SourceMap* sources = nullptr;  // needed for line_info
};

// The emitted text and what a launcher must know. Kernel signature: extern "C" __global__ with the
// run-time parameters in order; pointers are 64-bit, i1 is a byte, f16/bf16/fp8 scalars are passed
// as their 16- or 8-bit image. One program instance is one block; grid axes map to blockIdx.x, y,
// z.
struct Source {
  std::string text;       // the kernel without the prelude
  std::string entry;      // symbol name
  int threads = 128;      // block size, x only
  int shared_bytes = 0;   // dynamic shared memory
  int max_registers = 0;  // a thread; 0: no bound but what min_blocks leaves
  int min_blocks = 1;     // that ptxas leaves registers for on an SM (residency.h)
  std::vector<ir::Type> params;
  int sm = 0;  // the target, so that the emulator offers what it has and no more; 0: all of sm_90
  schedule::ScheduleReport schedule = {};  // what became of each loop; not kept by the disk cache
};

// Emits for a target. The module must have gone through passes::run_pipeline. Loops are pipelined
// with as many stages as they ask for, or, where shared memory is too small, with as many as fit.
// Too much shared memory even with one is the error `out-of-resources` (limit, need, what to
// lower).
Result<Source> emit(const ir::Module& module, const Target& target, const Options& options = {});

// The prelude that goes before the text: device intrinsics as inline PTX …
std::string_view device_prelude();
// … and the same names in plain C++ for the emulator.
std::string_view host_prelude();

// ---- NVRTC ----
struct NvrtcInfo {
  int major = 0, minor = 0;
  std::string library;  // path it was loaded from
};
// Loads NVRTC once; the error `no-nvrtc` names what was searched. TILEWRIGHT_NVRTC overrides.
Result<NvrtcInfo> nvrtc_info();

struct Binary {
  std::string cubin;
  std::string ptx;
  std::string log;
};
// Compiles prelude + text for the target; with fewer blocks an SM if it would spill with as many as
// source.min_blocks. `no-nvrtc`, `cuda-compile` (with log and source excerpt).
Result<Binary> compile(const Source& source, const Target& target, const Options& options = {});

// Read from the cubin, without a GPU.
struct Resources {
  int registers = 0;
  int shared_bytes = 0;  // static + dynamic
  int stack_bytes = 0;
  int spill_instructions = 0;
  int code_bytes = 0;
  int barriers = 0;
};
// A damaged cubin, or one of another kernel, is the error `bad-cubin`.
Result<Resources> read_resources(std::string_view cubin, const Source& source);
// How often each machine instruction occurs, by mnemonic ("HMMA", "LDG", "STL"), or by opcode
// ("0x01a") where the name is not known.
Result<std::map<std::string, int>> instruction_mix(std::string_view cubin, const Source& source);
// Blocks per SM that fit by registers, shared memory, threads; and the bound's name.
struct Occupancy {
  int blocks = 0;
  int warps = 0;
  double fraction = 0;
  std::string bound;
};
Occupancy occupancy(const Resources& resources, const Source& source, const Target& target);

// ---- emulation ----
struct EmulatorOptions {
  bool check_races = true;          // shared-memory accesses not separated by a barrier
  bool check_uninitialized = true;  // reads of shared memory that nothing has written
  bool check_bounds = true;         // global memory by may_access (shared memory: always)
  // Intrinsics and turns of loops that a thread may run, so that kernels that never end do; 0: any
  // number. More is the error `out-of-fuel`.
  uint64_t fuel = 1ull << 28;
  // Blocks run on this many OS threads (0: one a core) and may_access is asked from all of them.
  // With one, which is the default, they run in order and results do not vary.
  int threads = 1;
  std::function<bool(uint64_t address, size_t bytes, bool is_write)> may_access;
};
// The text built for the host (needs a C++20 compiler at run time: `no-host-compiler` otherwise;
// TILEWRIGHT_CXX overrides). Threads are fibers, warps run in lock step at collectives.
class EmulatedKernel {
 public:
  virtual ~EmulatedKernel() = default;
  virtual Status run(const Launch& launch, const EmulatorOptions& options = {}) const = 0;
};
Result<std::shared_ptr<EmulatedKernel>> emulate(const Source& source);
// Many at once, which takes a fraction of the time: they share libraries and are not optimised. A
// kernel that cannot be built is null; emulate() tells why.
std::vector<std::shared_ptr<EmulatedKernel>> emulate_all(const std::vector<Source>& sources);

}  // namespace tilewright::cuda
