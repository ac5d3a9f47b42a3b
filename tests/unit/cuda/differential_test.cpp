// Random and golden kernels: the emitted text under the emulator gives what the interpreter gives,
// for several targets and warp counts, with every check of the emulator on. TILEWRIGHT_FUZZ_ROUNDS
// and TILEWRIGHT_FUZZ_SEED widen the search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

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

// ---- golden kernels
// ------------------------------------------------------------------------------

// The module of a golden file, if it holds exactly one that a launch can give arguments to.
std::optional<ir::Module> golden_module(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.starts_with("# test:")) return std::nullopt;
  text.erase(0, text.find('\n') + 1);
  text.resize(std::min(text.find("# --- expected"), text.size()));
  Result<ir::Module> module = ir::parse(path.string(), text);
  if (!module.ok() || !ir::verify(*module).ok()) return std::nullopt;
  for (ir::ValueId arg : module->region(module->body).args)
    if (module->type(arg).is_tile()) return std::nullopt;
  return std::move(*module);
}

bool close(Dtype dtype, uint64_t expected, uint64_t actual) {
  if (!is_float(dtype)) return expected == actual;
  double x = bits_to_float(expected, dtype), y = bits_to_float(actual, dtype);
  double unit = dtype_bits(dtype) >= 32 ? 1e-5 : dtype_bits(dtype) == 16 ? 1e-2 : 0.13;
  return x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= unit * std::fabs(x);
}

// Buffers of small whole numbers, scalars of 32 (which divides well) and 0.5. Kernels that this
// takes out of bounds or round for ever in the interpreter are left out.
bool compare_golden(ir::Module module, std::string& difference) {
  constexpr size_t kElements = 1 << 15;
  constexpr uint64_t kFuel = 200000;
  passes::run_pipeline(module, {}).value();
  std::vector<ir::Type> types;
  for (ir::ValueId arg : module.region(module.body).args) types.push_back(module.type(arg));
  auto arguments = [&](std::vector<std::vector<uint8_t>>& buffers) {
    std::vector<uint64_t> slots;
    for (const ir::Type& type : types) {
      auto number = [&](double value) {
        return is_float(type.dtype) ? float_to_bits(value, type.dtype)
                                    : int_to_bits(static_cast<int64_t>(value), type.dtype);
      };
      if (!type.is_pointer) {
        slots.push_back(number(is_float(type.dtype) ? 0.5 : 32));
        continue;
      }
      auto bytes = static_cast<size_t>(dtype_bytes(type.dtype));
      buffers.emplace_back(kElements * bytes);
      for (size_t i = 0; i < kElements; ++i) {
        uint64_t bits = number(static_cast<double>(i * 7 % 4));
        // Which values a 2:4 operand keeps.
        if (type.dtype == Dtype::kI16) bits = i % 2 == 0 ? 0x4444 : 0xc444;
        std::memcpy(&buffers.back()[i * bytes], &bits, bytes);
      }
      slots.push_back(reinterpret_cast<uint64_t>(buffers.back().data()));
    }
    return slots;
  };
  auto within = [&](const std::vector<std::vector<uint8_t>>& buffers) {
    return [&](uint64_t address, size_t bytes, bool) {
      for (const auto& buffer : buffers) {
        auto begin = reinterpret_cast<uint64_t>(buffer.data());
        if (address >= begin && address + bytes <= begin + buffer.size()) return true;
      }
      return false;
    };
  };
  std::vector<std::vector<uint8_t>> expected, actual;
  std::vector<uint64_t> slots = arguments(expected);
  Launch launch;
  launch.arguments = slots;
  interp::Options limits;
  limits.may_access = within(expected);
  limits.fuel = kFuel;
  if (!interp::run(module, launch, limits).ok()) return false;
  Result<Source> source = emit(module, *find_target("sm_80"));
  if (!source.ok()) {
    difference = source.error().kind == DiagKind::kOutOfResources ? "" : source.error().text();
    return false;
  }
  slots = arguments(actual);
  launch.arguments = slots;
  EmulatorOptions checks;
  checks.may_access = within(actual);
  Status status = emulate(*source).value()->run(launch, checks);
  if (!status.ok()) return difference = source->text + status.error().text(), true;
  size_t buffer = 0;
  for (const ir::Type& type : types) {
    if (!type.is_pointer) continue;
    auto bytes = static_cast<size_t>(dtype_bytes(type.dtype));
    for (size_t i = 0; i < kElements; ++i) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, &expected[buffer][i * bytes], bytes);
      std::memcpy(&y, &actual[buffer][i * bytes], bytes);
      if (!close(type.dtype, x, y))
        return difference = source->text + "buffer " + std::to_string(buffer) + " element " +
                            std::to_string(i) + " differs",
               true;
    }
    ++buffer;
  }
  return true;
}

TEST(Differential, GoldenKernels) {
  int compared = 0;
  for (auto& entry :
       std::filesystem::recursive_directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() != ".ir") continue;
    std::optional<ir::Module> module = golden_module(entry.path());
    if (!module) continue;
    SCOPED_TRACE(entry.path());
    std::string difference;
    try {
      compared += compare_golden(std::move(*module), difference) ? 1 : 0;
    } catch (const std::exception& error) {
      difference = error.what();
    }
    EXPECT_EQ(difference, "");
  }
  EXPECT_GE(compared, 12) << "most golden kernels can be run";
}

}  // namespace
}  // namespace tilewright::cuda
