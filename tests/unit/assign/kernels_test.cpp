// Layouts of the kernels of kernels_lib, on every target and number of warps.
#include <algorithm>

#include "codegen/cuda/layouts.h"
#include "tests/unit/assign/check.h"
#include "tests/unit/assign/kernels.h"

namespace tilewright::cuda {
namespace {

struct Report {
  int conversions = 0, in_loops = 0;
  int narrowest = 8;  // vector of a matrix tile
};

Report assign(const KernelCase& kernel, const Target& target, int warps) {
  SCOPED_TRACE(kernel.kernel + " " + std::string(target.name) + " warps " + std::to_string(warps));
  ir::Module module = lower_kernel(kernel, warps);
  auto layouts = assign_layouts(module, target);
  EXPECT_TRUE(layouts.ok());
  AssignmentChecker checker(module, *layouts, target);
  checker.run();
  Report report{checker.conversions, checker.conversions_in_loops};
  for (auto [op, vector] : layouts->vectors)
    if (layouts->memory.at(op).shape.size() > 1)
      report.narrowest = std::min(report.narrowest, vector);
  return report;
}

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, RulesHoldEverywhere) {
  for (const KernelCase& kernel : library_kernels(GetParam()))
    for (const Target& target : all_targets()) {
      if (GetParam() != "f16" && target.sm != 75 && target.sm != 90) continue;
      for (int warps : {1, 2, 4, 8}) assign(kernel, target, warps);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Kernels, testing::Values("f16", "bf16", "f32"));

// What moves between threads: dot operands in the loop, queries before it, results after it.
TEST(Kernels, MoveOnlyWhatTheyMust) {
  const Target& target = *find_target("sm_80");
  for (const KernelCase& kernel : library_kernels())
    for (int warps : {1, 2, 4, 8}) {
      Report report = assign(kernel, target, warps);
      bool attention = kernel.kernel == "attention";
      bool dots = attention || kernel.kernel == "matmul" || kernel.kernel == "conv2d";
      EXPECT_EQ(report.in_loops, dots ? 2 : 0) << kernel.kernel << " warps " << warps;
      EXPECT_EQ(report.conversions, attention ? 4 : dots ? 3 : 0) << kernel.kernel;
      bool floats = kernel.kernel == "layer_norm_backward_dwdb";  // partial sums in f32
      EXPECT_EQ(report.narrowest, floats ? 4 : 8) << kernel.kernel << " warps " << warps;
    }
}

}  // namespace
}  // namespace tilewright::cuda
