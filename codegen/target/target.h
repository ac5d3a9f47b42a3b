// Facts about CUDA targets, in one table (targets.def), for legality, models and documents alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

struct Target {
  std::string_view name;     // "sm_89"; what users and databases say
  std::string_view nvrtc;    // "sm_89", "sm_90a"; what NVRTC is told
  int sm = 0;                // 75, 80, 86, 89, 90, 100, 120
  int shared_per_block = 0;  // bytes a block may use at most (opt-in)
  int shared_per_sm = 0;     // bytes
  int registers_per_sm = 65536;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int reserved_shared_per_block = 1024;  // the system's part, counted against shared_per_sm only
  int shared_unit = 128;                 // bytes that shared memory is allocated by
  bool has_cp_async = false;             // sm_80 and later
  bool has_bf16_mma = false;             // bf16, tf32, int8 m16n8k* mma.sync
  bool has_fp8_mma = false;              // sm_89 and later
  bool has_ldmatrix = true;              // sm_75 and later
  bool has_wgmma = false, has_tma = false;
};

// By name, with or without suffix: "sm_90", "sm_90a", "90". Null when unknown.
const Target* find_target(std::string_view name);
// The target whose cubins run best on a device of this compute capability; null if none does.
const Target* target_for_device(int major, int minor);
std::span<const Target> all_targets();

}  // namespace tilewright
