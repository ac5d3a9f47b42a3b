// How many blocks of a kernel fit on one SM (CUDA's occupancy calculator).
#include <algorithm>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {
namespace {

constexpr int kWarpSize = 32;
constexpr int kRegisterUnit = 256;  // registers are allocated to a warp by this many
constexpr int kPartitions = 4;      // an SM's registers and warps are in four equal parts

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Occupancy occupancy(const Resources& resources, const Source& source, const Target& target) {
  const int warps = std::max(1, round_up(source.threads, kWarpSize) / kWarpSize);
  const int warps_per_sm = target.max_threads_per_sm / kWarpSize;
  Occupancy best;
  best.blocks = target.max_blocks_per_sm;
  best.bound = "blocks";
  auto limit = [&](int blocks, const char* bound) {
    if (blocks < best.blocks) best.blocks = blocks, best.bound = bound;
  };
  limit(warps_per_sm / warps, "threads");
  if (resources.registers > 0) {
    int per_warp = round_up(resources.registers * kWarpSize, kRegisterUnit);
    int fitting = target.registers_per_sm / kPartitions / per_warp * kPartitions;
    limit(fitting / warps, "registers");
  }
  if (int used = resources.shared_bytes + target.reserved_shared_per_block; used > 0)
    limit(resources.shared_bytes > target.shared_per_block
              ? 0
              : target.shared_per_sm / round_up(used, target.shared_unit),
          "shared memory");
  best.warps = best.blocks * warps;
  best.fraction = static_cast<double>(best.warps) / warps_per_sm;
  return best;
}

}  // namespace tilewright::cuda
