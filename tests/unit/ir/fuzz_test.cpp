// Random modules through printer, parser, verifier and every pass. TILEWRIGHT_FUZZ=N runs N seeds;
// TILEWRIGHT_FUZZ_SEED starts elsewhere. A failure names its seed.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"
#include "dsl/base/numeric.h"
#include "tests/unit/ir/random_ir.h"

namespace tilewright {
namespace {

using ir::Module;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

constexpr int kDtypes = static_cast<int>(Dtype::kF64) + 1;
using Buffers = std::vector<std::vector<unsigned char>>;

Buffers initial_buffers(uint64_t seed) {
  ir::Random random(seed);
  Buffers buffers;
  for (int i = 0; i < kDtypes; ++i) {
    auto dtype = static_cast<Dtype>(i);
    auto bytes = static_cast<size_t>(dtype_bytes(dtype));
    auto& buffer = buffers.emplace_back(bytes * ir::kBufferElements);
    for (int k = 0; k < ir::kRandomElements; ++k) {
      uint64_t bits = ir::random_bits(random, dtype);
      std::memcpy(buffer.data() + bytes * static_cast<size_t>(k), &bits, bytes);
    }
  }
  return buffers;
}

// All that a kernel leaves behind. NaNs are made alike.
struct Outcome {
  std::string error;
  Buffers buffers;
};

// gtest shows where two outcomes differ in terms of elements, not bytes.
std::string difference(const Outcome& a, const Outcome& b) {
  if (a.error != b.error) return "errors: '" + a.error + "' and '" + b.error + "'";
  for (size_t i = 0; i < a.buffers.size(); ++i)
    for (size_t k = 0; k < a.buffers[i].size(); ++k)
      if (a.buffers[i][k] != b.buffers[i][k]) {
        auto dtype = static_cast<Dtype>(i);
        return "p_" + std::string(dtype_name(dtype)) + " differs at element " +
               std::to_string(k / static_cast<size_t>(dtype_bytes(dtype)));
      }
  return "";
}

void make_nans_alike(Buffers& buffers) {
  for (int i = 0; i < kDtypes; ++i) {
    auto dtype = static_cast<Dtype>(i);
    if (!is_float(dtype)) continue;
    auto bytes = static_cast<size_t>(dtype_bytes(dtype));
    auto& buffer = buffers[static_cast<size_t>(i)];
    uint64_t nan = float_to_bits(std::nan(""), dtype);
    for (size_t at = 0; at < buffer.size(); at += bytes) {
      uint64_t bits = 0;
      std::memcpy(&bits, buffer.data() + at, bytes);
      if (bits != 0 && std::isnan(bits_to_float(bits, dtype)))
        std::memcpy(buffer.data() + at, &nan, bytes);
    }
  }
}

Outcome run(const Module& module, uint64_t seed) {
  Outcome outcome{"", initial_buffers(seed)};
  std::vector<uint64_t> arguments;
  for (auto& buffer : outcome.buffers) arguments.push_back(std::bit_cast<uint64_t>(buffer.data()));
  ir::Random random(seed + 1);
  for (Dtype dtype : {Dtype::kI32, Dtype::kI64, Dtype::kF32, Dtype::kI1})
    arguments.push_back(ir::random_bits(random, dtype));
  Launch launch;
  launch.grid = {2, 1, 1};  // program ids differ
  launch.arguments = arguments;
  interp::Options options;
  options.fuel = 200000;
  options.may_access = [&](uint64_t address, size_t bytes, bool) {
    for (auto& buffer : outcome.buffers) {
      auto begin = std::bit_cast<uint64_t>(buffer.data());
      if (address >= begin && address + bytes <= begin + buffer.size()) return true;
    }
    return false;
  };
  Status status = interp::run(module, launch, options);
  if (!status.ok()) outcome.error = status.error().message;
  make_nans_alike(outcome.buffers);
  return outcome;
}

struct Pass {
  std::string name;
  std::function<bool(Module&)> run;
  bool keeps_results = true;
};

// The whole pipeline, unlike its passes, is not asked to be idempotent or to report changes.
std::vector<Pass> passes_under_test() {
  return {{"canonicalize", [](Module& m) { return passes::canonicalize(m); }},
          {"cse", passes::eliminate_common_subexpressions},
          {"uniform", passes::make_increments_uniform},
          {"licm", passes::hoist_loop_invariants},
          {"dce", passes::eliminate_dead_code},
          {"contract_fma", passes::contract_fma, false}};
}

void check_pass(const Pass& pass, const Module& module, const Outcome& results, uint64_t seed) {
  SCOPED_TRACE(pass.name);
  std::string before = ir::print(module);
  Module once = module;
  bool changed = pass.run(once);
  std::string after = ir::print(once);
  if (Status status = ir::verify(once); !status.ok()) FAIL() << before << status.error().text();
  EXPECT_EQ(changed, before != after);
  if (pass.keeps_results) {
    ASSERT_EQ(difference(results, run(once, seed)), "") << before << after;
  }
  Module again = module;
  pass.run(again);
  ASSERT_EQ(after, ir::print(again)) << "not deterministic";
  bool changed_again = pass.run(again);
  ASSERT_EQ(after, ir::print(again)) << "not idempotent: " << before;
  EXPECT_FALSE(changed_again);
}

void check_pipeline(const Module& module, const Outcome& results, uint64_t seed) {
  Module unfused = module;
  Status status =
      passes::run_pipeline(unfused, {.fp_fusion = false, .verify_each = true, .observe = {}});
  ASSERT_TRUE(status.ok()) << status.error().text();
  ASSERT_EQ(difference(results, run(unfused, seed)), "") << ir::print(module) << ir::print(unfused);
  Module fused = module;
  status = passes::run_pipeline(fused, {.fp_fusion = true, .verify_each = true, .observe = {}});
  ASSERT_TRUE(status.ok()) << status.error().text();
}

void check_text(const Module& module) {
  std::string text = ir::print(module);
  auto parsed = ir::parse("random.ir", text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  ASSERT_EQ(text, ir::print(*parsed));
  Status status = ir::verify(*parsed);
  ASSERT_TRUE(status.ok()) << status.error().text();
  // Compaction changes ids and nothing else.
  Module compact = module;
  compact.compact();
  ASSERT_EQ(text, ir::print(compact));
  status = ir::verify(compact);
  ASSERT_TRUE(status.ok()) << status.error().text();
}

TEST(Fuzz, TextAndPasses) {
  uint64_t first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  uint64_t count = from_environment("TILEWRIGHT_FUZZ", 60);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TILEWRIGHT_FUZZ=1 TILEWRIGHT_FUZZ_SEED=" + std::to_string(seed));
    Module module = ir::random_module(seed, 10 + static_cast<int>(seed % 60));
    Status status = ir::verify(module);
    ASSERT_TRUE(status.ok()) << status.error().text();
    check_text(module);
    Outcome results = run(module, seed);
    ASSERT_EQ(results.error, "") << ir::print(module);
    for (const Pass& pass : passes_under_test()) check_pass(pass, module, results, seed);
    check_pipeline(module, results, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Fuzz, Expressions) {
  uint64_t first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  uint64_t count = from_environment("TILEWRIGHT_FUZZ", 500);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TILEWRIGHT_FUZZ=1 TILEWRIGHT_FUZZ_SEED=" + std::to_string(seed));
    Module module = ir::random_expressions(seed);
    Status status = ir::verify(module);
    ASSERT_TRUE(status.ok()) << status.error().text();
    Module simpler = module;
    passes::canonicalize(simpler);
    passes::eliminate_common_subexpressions(simpler);
    status = ir::verify(simpler);
    ASSERT_TRUE(status.ok()) << status.error().text();
    std::string text = ir::print(simpler);
    ASSERT_EQ(difference(run(module, seed), run(simpler, seed)), "") << ir::print(module) << text;
    passes::canonicalize(simpler);
    EXPECT_FALSE(passes::canonicalize(simpler)) << ir::print(module) << text;
  }
}

// Swaps, drops and doubles words and lines of a valid text.
std::string mutate(std::string text, ir::Random& random) {
  auto word = [&] {
    size_t begin = static_cast<size_t>(random.below(static_cast<int>(text.size())));
    while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\n') --begin;
    size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    return std::pair(begin, end - begin);
  };
  for (int i = 1 + random.below(3); i > 0 && !text.empty(); --i) {
    auto [begin, length] = word();
    std::string copy = text.substr(begin, length);
    switch (std::min(random.below(20), 4)) {
      case 0:
        text.erase(begin, length);
        break;
      case 1:
        text[begin] = "0123456789-{}()%,:=x<> "[random.below(23)];
        break;
      case 2:
        text.insert(begin, copy + " ");
        break;
      case 3: {
        size_t start = text.rfind('\n', begin) + 1;
        size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        std::string line = text.substr(start, end - start);
        text.erase(start, end - start);
        if (random.chance(50)) {
          size_t to =
              text.rfind('\n',
                         static_cast<size_t>(random.below(static_cast<int>(text.size()) + 1))) +
              1;
          text.insert(to, line);
        }
        break;
      }
      default: {
        // A word of the same kind most likely still parses.
        for (int tries = 0; tries < 50; ++tries) {
          auto [other, other_length] = word();
          if (copy.empty() || other_length == 0 || text[other] != copy[0] ||
              text[other + other_length - 1] != copy.back())
            continue;
          text.replace(other, other_length, copy);
          break;
        }
        break;
      }
    }
  }
  return text;
}

// Whatever the text says, the answer is a module that passes can take, or an error with a place.
TEST(Fuzz, MutatedText) {
  uint64_t first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  uint64_t count = from_environment("TILEWRIGHT_FUZZ", 600);
  int parsed = 0, verified = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TILEWRIGHT_FUZZ=1 TILEWRIGHT_FUZZ_SEED=" + std::to_string(seed));
    ir::Random random(seed);
    std::string text = mutate(ir::print(ir::random_module(seed % 50, 12)), random);
    auto module = ir::parse("mutated.ir", text);
    if (!module.ok()) {
      EXPECT_TRUE(module.error().details.starts_with("mutated.ir:")) << module.error().text();
      continue;
    }
    ++parsed;
    std::string printed = ir::print(*module);
    auto again = ir::parse("printed.ir", printed);
    ASSERT_TRUE(again.ok()) << again.error().text();
    ASSERT_EQ(ir::print(*again), printed);
    Status status = ir::verify(*module);
    if (!status.ok()) {
      EXPECT_FALSE(status.error().details.empty()) << status.error().text();
      continue;
    }
    ++verified;
    status = passes::run_pipeline(*module, {.verify_each = true, .observe = {}});
    ASSERT_TRUE(status.ok()) << text << status.error().text();
  }
  // Enough texts get far enough to matter.
  if (count >= 600) {
    EXPECT_GT(parsed, static_cast<int>(count) / 5);
    EXPECT_GT(verified, static_cast<int>(count) / 20);
    EXPECT_LT(verified, parsed);
  }
}

// The generator is worth something only if it reaches every op.
TEST(Fuzz, GeneratorReachesEveryOp) {
  std::vector<int> seen(ir::kOpCount);
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Module module = ir::random_module(seed, 10 + static_cast<int>(seed % 60));
    ir::walk(module, module.body,
             [&](ir::OpId op) { ++seen[static_cast<size_t>(module.op(op).op)]; });
  }
  for (int i = 0; i < ir::kOpCount; ++i) {
    if (static_cast<ir::Op>(i) == ir::Op::Assume) continue;       // a false one is an error
    if (ir::kOpTable[i].family == ir::Family::kShared) continue;  // codegen/schedule makes them
    EXPECT_GT(seen[static_cast<size_t>(i)], 0) << ir::kOpTable[i].mnemonic;
  }
}

}  // namespace
}  // namespace tilewright
