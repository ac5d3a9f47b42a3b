#include "tests/kernels/build_checks.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "codegen/cuda/cuda.h"

namespace tilewright::kernel_tests {
namespace {

// A warp for every scheduler: with fewer, one of them never works. (Large tiles of wide types have
// no more.) Kernels without products need more loads on their way than that.
constexpr int kWarpsForDots = 4, kWarpsForMemory = 8;

bool has_dots(const ir::Module& module) {
  bool found = false;
  ir::walk(module, module.body, [&](ir::OpId id) { found |= module.op(id).op == ir::Op::Dot; });
  return found;
}

Status judge(const LaunchSpec& spec, const ir::Module& module, const cuda::Source& source,
             const cuda::Binary& binary, const Target& target) {
  TW_ASSIGN(auto resources, cuda::read_resources(binary.cubin, source));
  auto wrong = [&](const std::string& what) {
    return make_error(DiagKind::kInternal, spec.kernel + ": " + what + ", " +
                                               std::to_string(resources.registers) + " registers");
  };
  if (resources.spill_instructions > 0)
    return wrong("spills, " + std::to_string(resources.spill_instructions) + " instructions");
  if (resources.stack_bytes > 0)
    return wrong(std::to_string(resources.stack_bytes) + " bytes of local memory");
  if (resources.shared_bytes > target.shared_per_block)
    return wrong(std::to_string(resources.shared_bytes) + " bytes of shared memory");
  cuda::Occupancy occupancy = cuda::occupancy(resources, source, target);
  if (occupancy.warps < (has_dots(module) ? kWarpsForDots : kWarpsForMemory))
    return wrong(std::to_string(occupancy.warps) + " warps an SM, bound by " + occupancy.bound);
  return {};
}

}  // namespace

Status build_for(const LaunchSpec& spec, const Target& target) {
  auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  auto lap = [&] {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - start).count();
    start = now;
    return ms;
  };
  TW_ASSIGN(auto module, lower(spec));
  double ir = lap();
  TW_ASSIGN(auto source, cuda::emit(module, target));
  double emit = lap();
  TW_ASSIGN(auto binary, cuda::compile(source, target));
  double nvrtc = lap();
  if (std::getenv("TILEWRIGHT_BUILD_TIMES"))
    std::printf(
        "%-7s %-26s warps %2d  ir %6.1f  emit %6.1f  nvrtc %7.1f  sum %7.1f ms, %7.1f ms of CPU\n",
        std::string(target.name).c_str(), spec.kernel.c_str(), spec.num_warps, ir, emit, nvrtc,
        ir + emit + nvrtc, 1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  return judge(spec, module, source, binary, target);
}

}  // namespace tilewright::kernel_tests
