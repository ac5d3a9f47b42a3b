#include "autotune/kernel_trial.h"

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/cpu/cpu.h"

namespace tilewright::autotune {
namespace {

constexpr const char* kDouble = R"(
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr, WRONG: tl.constexpr = 0):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2.0 * tl.load(x + i, mask=i < n) + WRONG, mask=i < n)
)";

Workload double_workload(int64_t n) {
  Workload work;
  work.program = frontend::Program::load("double.py", kDouble).value();
  work.kernel = "double";
  work.arguments.push_back({"x", counting(Dtype::kF32, {n}), {}});
  work.arguments.push_back({"y", poisoned(Dtype::kF32, {n}), {}});
  work.arguments.push_back({"n", std::nullopt, runtime::Arg::integer(n)});
  work.grid = [n](const Config& config) -> Result<std::array<uint32_t, 3>> {
    int64_t block = config.constants.at("BLOCK").integer;
    return std::array<uint32_t, 3>{static_cast<uint32_t>((n + block - 1) / block), 1, 1};
  };
  return work;
}

std::unique_ptr<KernelTrial> make_trial(const char* device, Checker checker) {
  return KernelTrial::create(double_workload(100), runtime::Device::open(device).value(),
                             std::make_shared<runtime::CompileService>(cache::CacheOptions{}),
                             std::move(checker))
      .value();
}

Config config(const char* text) {
  return parse_space(text).value().front();
}

TEST(KernelTrial, RunsOnFreshInputsEachTime) {
  auto trial = make_trial("interp", {});
  for (int round = 0; round < 2; ++round) {
    auto tensors = trial->run(config("BLOCK=32")).value();
    ASSERT_EQ(tensors.size(), 2u);
    for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(tensors[1].get(i), 2.0 * static_cast<double>(i));
  }
}

TEST(KernelTrial, TimesAreThoseOfLaunches) {
  auto trial = make_trial("interp", check_against_first());
  auto built = trial->build(config("BLOCK=64")).value();
  EXPECT_EQ(trial->check(built).value(), 0);
  auto samples = trial->time(built).value();
  EXPECT_GE(samples.size(), 3u);
  for (double ns : samples) EXPECT_GT(ns, 0);
}

TEST(KernelTrial, CandidatesThatDisagreeAreWrong) {
  auto trial = make_trial("interp", check_against_first());
  EXPECT_TRUE(trial->check(trial->build(config("BLOCK=32")).value()).ok());
  EXPECT_TRUE(trial->check(trial->build(config("BLOCK=64")).value()).ok());
  auto wrong = trial->check(trial->build(config("BLOCK=32 WRONG=7")).value());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(diag_name(wrong.error().kind), "wrong-result");
}

TEST(KernelTrial, TheCpuIsAReference) {
  if (!cpu::available()) GTEST_SKIP() << "built without LLVM";
  auto checker = check_against_cpu(double_workload(100), config("BLOCK=32")).value();
  auto trial = make_trial("interp", checker);
  EXPECT_EQ(trial->check(trial->build(config("BLOCK=64")).value()).value(), 0);
  EXPECT_FALSE(trial->check(trial->build(config("BLOCK=64 WRONG=1")).value()).ok());
}

TEST(KernelTrial, AConfigThatDoesNotCompileIsAnError) {
  auto trial = make_trial("interp", {});
  auto built = trial->build(config("BLOCK=48"));
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(diag_name(built.error().kind), "not-power-of-two");
}

TEST(KernelTrial, KeysArePrintableAndNameEverything) {
  Key key = make_trial("interp", {})->key();
  EXPECT_EQ(key.kernel.substr(0, 7), "double@");
  EXPECT_EQ(key.problem, "f32,f32;n=100");
  for (const std::string& text : {key.kernel, key.problem, key.device, key.compiler}) {
    EXPECT_FALSE(text.empty());
    for (char c : text) EXPECT_TRUE(c >= 32 && c < 127) << text;
  }
}

TEST(HostTensor, FillsAndCompares) {
  EXPECT_TRUE(std::isnan(poisoned(Dtype::kBF16, {3}).get(2)));
  EXPECT_EQ(random_uniform(Dtype::kF32, {64}, 7).bytes, random_uniform(Dtype::kF32, {64}, 7).bytes);
  EXPECT_NE(random_uniform(Dtype::kF32, {64}, 7).bytes, random_uniform(Dtype::kF32, {64}, 8).bytes);
  HostTensor normal = random_normal(Dtype::kF64, {10000}, 1);
  double mean = 0, square = 0;
  for (int64_t i = 0; i < normal.count(); ++i)
    mean += normal.get(i), square += normal.get(i) * normal.get(i);
  EXPECT_NEAR(mean / 10000, 0, 0.05);
  EXPECT_NEAR(square / 10000, 1, 0.05);
  HostTensor a = counting(Dtype::kF32, {4}), b = a;
  EXPECT_EQ(relative_error(a, b), 0);
  b.set(3, 4);
  EXPECT_NEAR(relative_error(a, b), 1 / std::sqrt(1 + 4 + 16), 1e-12);
  b.set(3, NAN);
  EXPECT_TRUE(std::isnan(relative_error(a, b)));
}

}  // namespace
}  // namespace tilewright::autotune
