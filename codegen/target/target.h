// Facts about CUDA targets, in one table (targets.def), for legality, models and documents alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

struct Target {
  std::string_view name;     // "sm_89"; what users and databases say
  std::string_view nvrtc;    // "sm_89", "sm_90a", "sm_120f"; what NVRTC is told
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
  bool has_int4_mma = false;             // in hardware, m16n8k64: sm_80 to sm_89
  bool has_wide_f64_mma = false;         // m16n8k8 and m16n8k16 of f64: sm_90
  bool has_fp8_mma = false;              // in hardware, by mma.sync: sm_89, sm_120
  bool has_scaled_mma = false;           // block-scaled FP8 and FP4, by mma.sync: sm_120
  bool has_ldmatrix = true;              // sm_75 and later
  bool has_wgmma = false, has_tma = false;
};

// What one SM does in a clock, dense, as the vendor's papers give it. A rate of 0: the SM has no
// such instruction. Multiply-adds count as two operations.
struct Rates {
  int f16_f32 = 0;  // f16 and bf16 operands (before sm_80 f16 alone), f32 sums
  int f16_f16 = 0;  // f16 operands, f16 sums
  int tf32 = 0;
  int f8_f32 = 0, f8_f16 = 0;  // FP8 operands
  int f4 = 0;                  // block-scaled FP4 operands, f32 sums
  int i8 = 0, i4 = 0;
  int f64 = 0;             // on tensor cores
  int fma_f32 = 128;       // outside of tensor cores: f32 lanes, two operations each, counted as
                           // operations
  int shared_bytes = 128;  // read or written
  int l2_bytes = 64;       // of one SM's port to L2
  int issue = 4;           // instructions a clock, of all four schedulers
  int special = 16;        // exp2, rsqrt … lanes
};

// A graphics card: rates of its SM, which cards of one target may cap, and the memory around them.
struct Card {
  std::string_view name;    // "RTX 4090", unique
  std::string_view target;  // Target::name
  int sms = 0;
  int boost_mhz = 0;
  double dram_gbps = 0;  // 1e9 bytes a second
  double l2_mib = 0;
  Rates rates;
};

// By name, with or without suffix: "sm_90", "sm_90a", "90"; a family's "sm_120f" is also "sm_120a".
// Null when unknown.
const Target* find_target(std::string_view name);
// The target whose cubins run best on a device of this compute capability; null if none does.
const Target* target_for_device(int major, int minor);
std::span<const Target> all_targets();

// By name; case, spaces, dashes and the vendor's "NVIDIA GeForce" do not matter. Null when unknown.
const Card* find_card(std::string_view name);
// The card that stands for a target where none is named: its first row.
const Card& reference_card(const Target& target);
std::span<const Card> all_cards();

}  // namespace tilewright
