// Random loops, scheduled and emitted: emulated CUDA, where copies land as late as they may,
// against the interpreter on the module before it was scheduled.
#include <gtest/gtest.h>

#include "codegen/cuda/cuda.h"
#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"
#include "tests/unit/schedule/loop_memory.h"

namespace tilewright::cuda {
namespace {

using schedule::Memory;
using schedule::RandomLoop;

class RandomLoops : public testing::TestWithParam<const char*> {};

TEST_P(RandomLoops, EmulatedLoopsComputeTheSame) {
  const Target& target = *find_target(GetParam());
  constexpr uint64_t kFirst = 1000, kCount = 48;
  std::vector<RandomLoop> loops;
  std::vector<ir::Module> modules;
  std::vector<Source> sources;
  for (uint64_t seed = kFirst; seed < kFirst + kCount; ++seed) {
    loops.push_back(schedule::random_loop(seed));
    auto module = ir::parse("random.ir", loops.back().text);
    ASSERT_TRUE(module.ok() && passes::run_pipeline(*module).ok());
    module->attrs.set("num_warps", int64_t{1} << seed % 3);
    auto source = emit(*module, target);
    ASSERT_TRUE(source.ok()) << seed << "\n" << source.error().text() << ir::print(*module);
    modules.push_back(std::move(*module));
    sources.push_back(std::move(*source));
  }
  auto kernels = emulate_all(sources);
  for (size_t i = 0; i < kCount; ++i) {
    uint64_t seed = kFirst + i;
    ASSERT_NE(kernels[i], nullptr) << seed << "\n" << sources[i].text;
    Memory expected(seed), actual(seed);
    Status status = interp::run(modules[i], {{1, 1, 1}, expected.arguments(loops[i])});
    ASSERT_TRUE(status.ok()) << status.error().text();
    EmulatorOptions options;
    auto ranges = actual.ranges();
    options.may_access = [&](uint64_t address, size_t bytes, bool) {
      for (auto [begin, size] : ranges)
        if (address >= begin && address + bytes <= begin + size) return true;
      return false;
    };
    status = kernels[i]->run({{1, 1, 1}, actual.arguments(loops[i])}, options);
    ASSERT_TRUE(status.ok()) << seed << "\n"
                             << status.error().text() << ir::print(modules[i]) << sources[i].text;
    ASSERT_TRUE(actual.same_results(expected)) << seed << "\n"
                                               << ir::print(modules[i]) << sources[i].text;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomLoops, testing::Values("sm_75", "sm_80", "sm_89"));

}  // namespace
}  // namespace tilewright::cuda
