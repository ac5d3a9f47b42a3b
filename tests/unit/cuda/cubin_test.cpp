#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvrtc_loader.h"
#include "tests/unit/cuda/every_target.h"

namespace tilewright::cuda {
namespace {

constexpr const char* kPlain = R"(
extern "C" __global__ void __launch_bounds__(128) plain(float* x, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) x[i] = x[i] * 2.0f + 1.0f;
}
)";

// 140 live values in 32 to 128 registers.
constexpr const char* kSpilling = R"(
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(float* x, int n) {
  float v[140];
#pragma unroll
  for (int i = 0; i < 140; ++i) v[i] = x[i * n + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 140; ++i) x[(i + 140) * n + threadIdx.x] = v[i] * v[139 - i];
}
)";

constexpr const char* kStatic = R"(
extern "C" __global__ void __launch_bounds__(256) statically(float* x) {
  __shared__ float buffer[1000];
  buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = buffer[255 - threadIdx.x];
  asm volatile("bar.sync 3, 256;");
}
)";

Source source(const char* text, const char* entry, int threads, int dynamic = 0) {
  Source out;
  out.text = text;
  out.entry = entry;
  out.threads = threads;
  out.shared_bytes = dynamic;
  return out;
}

int number(const std::string& log, const char* pattern) {
  std::smatch match;
  return std::regex_search(log, match, std::regex(pattern)) ? std::stoi(match[1]) : 0;
}

class EveryTarget : public EveryTargetTest {};
INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget, every_target(), target_name);

TEST_P(EveryTarget, ResourcesAgreeWithPtxas) {
  for (const Source& kernel :
       {source(kPlain, "plain", 128, 512), source(kSpilling, "spilling", 1024),
        source(kStatic, "statically", 256)}) {
    SCOPED_TRACE(kernel.entry);
    Binary binary = compile(kernel, *GetParam()).value();
    Resources got = read_resources(binary.cubin, kernel).value();
    EXPECT_EQ(got.registers, number(binary.log, R"(Used (\d+) registers)")) << binary.log;
    EXPECT_EQ(got.barriers, number(binary.log, R"(used (\d+) barriers)")) << binary.log;
    EXPECT_EQ(got.stack_bytes, number(binary.log, R"((\d+) bytes stack frame)")) << binary.log;
    EXPECT_EQ(got.shared_bytes, kernel.shared_bytes + number(binary.log, R"((\d+) bytes smem)"))
        << binary.log;
    // Spills are counted in instructions there and in bytes by ptxas; one moves 4 to 16 bytes.
    int spilled = number(binary.log, R"((\d+) bytes spill stores)") +
                  number(binary.log, R"((\d+) bytes spill loads)");
    EXPECT_LE(got.spill_instructions * 4, spilled);
    EXPECT_GE(got.spill_instructions * 16, spilled);
    EXPECT_EQ(got.spill_instructions > 0, kernel.entry == "spilling");
    EXPECT_GT(got.code_bytes, 0);
    std::map<std::string, int> mix = instruction_mix(binary.cubin, kernel).value();
    EXPECT_EQ(mix["STL"] + mix["LDL"], got.spill_instructions);
    EXPECT_EQ(mix["LDG"] + mix["STG"], kernel.entry == "spilling" ? 280 : 2);
    EXPECT_EQ(mix["BAR"], kernel.entry == "statically" ? 2 : 0);
    EXPECT_EQ(mix["LDS"] + mix["STS"], kernel.entry == "statically" ? 2 : 0);
  }
}

// Instructions that tests and reports ask for, one kernel each.
TEST_P(EveryTarget, MixNamesTheInstructions) {
  const Target& target = *GetParam();
  auto mix = [&](const std::string& body) {
    Source kernel = source("", "k", 128);
    kernel.text =
        "extern \"C\" __global__ void k(unsigned* p, float* f, unsigned s) {\n"
        "  unsigned a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], g = p[5];\n"
        "  float x = f[0], y = f[1], z = f[2], w = f[3];\n" +
        body + "  p[6] = a ^ b ^ c ^ d;\n  f[4] = x + y + z + w;\n}\n";
    return instruction_mix(compile(kernel, target).value().cubin, kernel).value();
  };
  EXPECT_EQ(mix(R"(asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},"
                   "{%4,%5},{%6},{%0,%1,%2,%3};"
                   : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a), "r"(b), "r"(c));)")["HMMA"],
            1);
  EXPECT_EQ(mix(R"(asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s));)")["LDSM"],
            1);
  EXPECT_EQ(mix("a += threadIdx.x; a = __shfl_xor_sync(0xffffffffu, a, 1);")["SHFL"], 1);
  EXPECT_EQ(mix("x = __fmaf_rn(x, y, z);")["FFMA"], 1);
  if (target.has_bf16_mma) {
    EXPECT_GE(mix(R"(asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},"
                     "{%4,%5,%0,%1},{%4,%5},{%0,%1,%2,%3};"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(e), "r"(g));)")["IMMA"],
              1);
  }
  if (target.has_cp_async) {
    EXPECT_EQ(mix(R"(asm volatile("cp.async.cg.shared.global [%0],[%1],16;" :: "r"(s), "l"(p));
                     asm volatile("cp.async.wait_all;");)")["LDGSTS"],
              1);
  }
}

TEST(Cubin, DamageIsAnErrorOrHarmless) {
  if (!nvrtc_info().ok()) GTEST_SKIP() << nvrtc_info().error().message;
  Source kernel = source(kStatic, "statically", 256);
  const std::string good = compile(kernel, *find_target("sm_90")).value().cubin;
  std::mt19937 random(7);
  int errors = 0;
  auto probe = [&](const std::string& damaged) {
    // A heap copy of the exact size, so that a read past the end is seen by ASan.
    std::vector<char> copy(damaged.begin(), damaged.end());
    Result<Resources> result = read_resources({copy.data(), copy.size()}, kernel);
    if (!result.ok()) {
      EXPECT_EQ(result.error().kind, DiagKind::kBadCubin);
      ++errors;
    }
    (void)instruction_mix({copy.data(), copy.size()}, kernel);
  };
  for (size_t length = 0; length < good.size(); length += 97) probe(good.substr(0, length));
  EXPECT_GT(errors, 0) << "a cubin cut off is seen";
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = good;
    for (unsigned hits = 1 + random() % 8; hits > 0; --hits)
      damaged[round % 2 ? random() % 64 : random() % good.size()] = static_cast<char>(random());
    probe(damaged);
  }
}

TEST(Cubin, OtherContentsAreNamed) {
  Result<Resources> empty = read_resources("", source("", "k", 32));
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().text().find("[bad-cubin]"), std::string::npos);
  if (!nvrtc_info().ok()) GTEST_SKIP() << nvrtc_info().error().message;
  std::string cubin = compile(source(kPlain, "plain", 128), *find_target("sm_80")).value().cubin;
  Result<Resources> other = read_resources(cubin, source("", "missing", 32));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("does not hold"), std::string::npos);
}

// By hand from the limits of each target.
TEST(Occupancy, IsBoundByTheScarcest) {
  Resources resources;
  resources.registers = 32;
  auto at = [&](const char* target, int threads) {
    return occupancy(resources, source("", "k", threads), *find_target(target));
  };
  Occupancy full = at("sm_90", 256);
  EXPECT_EQ(full.blocks, 8);
  EXPECT_EQ(full.warps, 64);
  EXPECT_EQ(full.bound, "threads");
  EXPECT_DOUBLE_EQ(full.fraction, 1.0);
  EXPECT_EQ(at("sm_80", 32).bound, "blocks");
  EXPECT_EQ(at("sm_80", 32).blocks, 32);

  resources.registers = 168;  // 5376 a warp: 3 in each quarter's 16384, 12 an SM
  EXPECT_EQ(at("sm_89", 128).blocks, 3);
  EXPECT_EQ(at("sm_89", 128).bound, "registers");
  EXPECT_EQ(at("sm_89", 128).warps, 12);

  resources.registers = 32;
  resources.shared_bytes = 48 * 1024;  // 49 KB with the system's part: 2 of 100 KB, 4 of 228 KB
  EXPECT_EQ(at("sm_86", 128).blocks, 2);
  EXPECT_EQ(at("sm_90", 128).blocks, 4);
  EXPECT_EQ(at("sm_90", 128).bound, "shared memory");
  EXPECT_EQ(at("sm_75", 128).blocks, 1);
  resources.shared_bytes = 100 * 1024;
  EXPECT_EQ(at("sm_86", 128).blocks, 0) << "more than a block may have";
}

}  // namespace
}  // namespace tilewright::cuda
