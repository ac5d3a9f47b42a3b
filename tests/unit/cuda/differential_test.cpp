// Random kernels: the emitted text under the emulator gives what the interpreter gives, for several
// targets and warp counts, with every check of the emulator on. TILEWRIGHT_FUZZ_ROUNDS and
// TILEWRIGHT_FUZZ_SEED widen the search.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "codegen/cuda/cuda.h"
#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"
#include "dsl/base/numeric.h"
#include "tests/unit/cuda/random_kernel.h"
#include "tests/unit/ir/random_ir.h"

namespace tilewright::cuda {
namespace {

int from_environment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

struct Buffers {
  std::vector<std::vector<uint8_t>> inputs, outputs;
  std::vector<uint64_t> slots;

  explicit Buffers(uint64_t seed) {
    ir::Random random(seed);
    for (Dtype dtype : kKernelDtypes) {
      auto bytes = static_cast<size_t>(dtype_bytes(dtype));
      inputs.emplace_back(kInputElements * bytes);
      outputs.emplace_back(kOutputElements * bytes, uint8_t{0x5a});
      for (size_t i = 0; i < kInputElements; ++i) {
        uint64_t bits = ir::random_bits(random, dtype);
        std::memcpy(&inputs.back()[i * bytes], &bits, bytes);
      }
    }
    for (auto* side : {&inputs, &outputs})
      for (auto& buffer : *side) slots.push_back(reinterpret_cast<uint64_t>(buffer.data()));
    slots.push_back(seed % 8);
  }

  bool may_access(uint64_t address, size_t bytes, bool is_write) const {
    auto within = [&](const std::vector<std::vector<uint8_t>>& side) {
      for (const auto& buffer : side) {
        auto begin = reinterpret_cast<uint64_t>(buffer.data());
        if (address >= begin && address + bytes <= begin + buffer.size()) return true;
      }
      return false;
    };
    return within(outputs) || (!is_write && within(inputs));
  }
};

bool same(Dtype dtype, const uint8_t* a, const uint8_t* b) {
  uint64_t x = 0, y = 0;
  std::memcpy(&x, a, static_cast<size_t>(dtype_bytes(dtype)));
  std::memcpy(&y, b, static_cast<size_t>(dtype_bytes(dtype)));
  return x == y || (is_float(dtype) && std::isnan(bits_to_float(x, dtype)) &&
                    std::isnan(bits_to_float(y, dtype)));
}

struct Setting {
  const char* target;
  int warps;
};

// An empty string, or what differs.
std::string compare(uint64_t seed, const Setting& setting, int& too_large) {
  RandomKernelOptions options;
  options.warps = setting.warps;
  ir::Module module = random_kernel(seed, options);
  if (Status status = ir::verify(module); !status.ok()) return status.error().text();
  if (Status status = passes::run_pipeline(module, {}); !status.ok()) return status.error().text();
  const std::string text = ir::print(module);
  Launch launch;
  Buffers expected(seed), actual(seed);
  launch.arguments = expected.slots;
  if (Status status = interp::run(module, launch); !status.ok()) return status.error().text();
  const Target& target = *find_target(setting.target);
  Result<Source> source = emit(module, target);
  if (!source.ok()) {
    // Too large for the target is a legal answer.
    if (source.error().kind == DiagKind::kOutOfResources) {
      ++too_large;
      return {};
    }
    return text + source.error().text();
  }
  auto kernel = emulate(*source);
  if (!kernel.ok()) return text + source->text + kernel.error().text();
  launch.arguments = actual.slots;
  EmulatorOptions checks;
  checks.may_access = [&](uint64_t address, size_t bytes, bool is_write) {
    return actual.may_access(address, bytes, is_write);
  };
  if (Status status = (*kernel)->run(launch, checks); !status.ok())
    return text + source->text + status.error().text();
  for (size_t i = 0; i < std::size(kKernelDtypes); ++i) {
    const Dtype dtype = kKernelDtypes[i];
    const auto bytes = static_cast<size_t>(dtype_bytes(dtype));
    for (size_t e = 0; e < kOutputElements; ++e)
      if (!same(dtype, &expected.outputs[i][e * bytes], &actual.outputs[i][e * bytes]))
        return text + source->text + "out_" + std::string(dtype_name(dtype)) + " element " +
               std::to_string(e) + " differs";
  }
  return {};
}

TEST(Differential, RandomKernels) {
  constexpr Setting kSettings[] = {{"sm_80", 4}, {"sm_90", 1}, {"sm_75", 2}, {"sm_89", 8}};
  const int rounds = from_environment("TILEWRIGHT_FUZZ_ROUNDS", 12);
  const int first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  int too_large = 0;
  for (int seed = first; seed < first + rounds; ++seed) {
    const Setting& setting = kSettings[static_cast<size_t>(seed) % std::size(kSettings)];
    std::string difference;
    try {
      difference = compare(static_cast<uint64_t>(seed), setting, too_large);
    } catch (const std::exception& error) {
      difference = error.what();
    }
    ASSERT_EQ(difference, "") << "seed " << seed << ", " << setting.target << ", " << setting.warps
                              << " warps";
  }
  EXPECT_LE(too_large, rounds / 4) << "most kernels fit their target";
}

// Takes the barriers out of emitted texts one at a time: each is needed, so each loss is a fault.
TEST(Differential, EveryMissingBarrierIsCaught) {
  const std::string barrier = "tw_barrier();";
  int removed = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    ir::Module module = random_kernel(seed, {});
    passes::run_pipeline(module, {}).value();
    const Source source = emit(module, *find_target("sm_80")).value();
    for (size_t at = 0; (at = source.text.find(barrier, at)) != std::string::npos; ++at) {
      Source mutant = source;
      mutant.text.erase(at, barrier.size());
      Buffers buffers(seed);
      Launch launch;
      launch.arguments = buffers.slots;
      Status status = emulate(mutant).value()->run(launch);
      ASSERT_FALSE(status.ok()) << "not caught: seed " << seed << ", byte " << at << "\n"
                                << source.text;
      DiagKind kind = status.error().kind;
      EXPECT_TRUE(kind == DiagKind::kDataRace || kind == DiagKind::kUninitializedRead)
          << status.error().text();
      ++removed;
    }
  }
  EXPECT_GT(removed, 4);
}

}  // namespace
}  // namespace tilewright::cuda
