// The C++ interface, used as an application would.
#include "tilewright/tilewright.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "runtime/api/merge.h"
#include "tests/unit/executor/fake_cuda/control.h"

namespace tw = tilewright;

namespace {

constexpr char kScale[] = R"(
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, MODE: tl.constexpr = "plain"):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if MODE == "square":
        x = x * x
    tl.store(out_ptr + offsets, (x * factor).to(out_ptr.dtype.element_ty), mask=mask)
)";

tw::Context interp() {
  return tw::Context::open(tw::ContextOptions{.device = "interp", .cache = "off"}).value();
}

std::vector<float> iota(size_t count) {
  std::vector<float> out(count);
  std::iota(out.begin(), out.end(), 0.0f);
  return out;
}

TEST(Api, LaunchFromSource) {
  tw::Context ctx = interp();
  EXPECT_EQ(ctx.device().kind, "interp");
  tw::Kernel scale = ctx.compile(kScale, "scale").value();
  EXPECT_EQ(scale.name(), "scale");
  EXPECT_EQ(scale.signature(),
            "scale(x_ptr, out_ptr, n, factor, BLOCK: constexpr, MODE: constexpr)");
  std::vector<float> x = iota(100), out(100);
  scale
      .launch({.grid = {tw::cdiv(100, 32)}, .constants = {{"BLOCK", 32}}}, x.data(), out.data(),
              100, 0.5f)
      .value();
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], 0.5f * x[i]);
  scale({.grid = {4}, .constants = {{"BLOCK", 32}, {"MODE", "square"}}}, x.data(), out.data(), 100,
        2.0)
      .value();
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], 2 * x[i] * x[i]);
  EXPECT_EQ(ctx.cache().compiled, 2u);
}

TEST(Api, FilesAndTheirErrors) {
  tw::Context ctx = interp();
  std::string path = ::testing::TempDir() + "tw_scale.py";
  std::ofstream(path) << kScale;
  EXPECT_TRUE(ctx.compile(path, "scale").ok());
  auto missing = ctx.compile("no/such/kernel.py", "scale");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, tw::DiagKind::kIo);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  auto folder = ctx.compile(::testing::TempDir(), "scale");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, tw::DiagKind::kIo);
  auto syntax = ctx.compile("@triton.jit\ndef k(x:\n    pass\n", "k", {.path = "mine.py"});
  ASSERT_FALSE(syntax.ok());
  EXPECT_NE(syntax.error().text().find("mine.py:2:"), std::string::npos) << syntax.error().text();
  EXPECT_THROW(ctx.compile(kScale, "nothing").value(), tw::Error);
}

TEST(Api, TypedPointersAndTensors) {
  tw::Context ctx = interp();
  tw::Kernel scale = ctx.compile(kScale, "scale").value();
  std::vector<float> x = iota(8);
  std::vector<tw::half> out(8);
  tw::LaunchOptions options{.constants = {{"BLOCK", 8}}};
  scale.launch(options, x.data(), out.data(), 8, 1.0).value();
  EXPECT_EQ(out[3].bits, 0x4200);  // 3.0
  // A tensor says how much memory there is, which the interpreter checks.
  tw::Status status =
      scale.launch({.grid = {2}, .constants = {{"BLOCK", 8}}}, tw::Tensor(x.data(), {8}),
                   tw::Tensor(out.data(), {2, 4}), 16, 1.0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, tw::DiagKind::kOutOfBounds);
}

TEST(Api, TypedKernel) {
  tw::Context ctx = interp();
  tw::TypedKernel<const float*, float*, int, float> scale(ctx.compile(kScale, "scale").value(),
                                                          {.constants = {{"BLOCK", 64}}});
  std::vector<float> x = iota(64), out(64);
  scale({1}, nullptr, x.data(), out.data(), 64, 3.0f).value();
  EXPECT_EQ(out[10], 30);
}

TEST(Api, ErrorsOfCallsAreFoundBeforeAnythingRuns) {
  tw::Context ctx = interp();
  tw::Kernel scale = ctx.compile(kScale, "scale").value();
  std::vector<float> x = iota(8), out(8, -1);
  tw::Status status = scale.launch({.constants = {{"BLOCK", 8}}}, x.data(), out.data(), 8);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, tw::DiagKind::kMissingArgument);
  EXPECT_NE(status.error().text().find("`factor`"), std::string::npos);
  tw::Constants many;
  std::vector<std::string> names(30);
  for (size_t i = 0; i < names.size(); ++i) many.add(names[i] = "C" + std::to_string(i), 1);
  status = scale.launch({.constants = many}, x.data(), out.data(), 8, 1.0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, tw::DiagKind::kBadLaunch);
  EXPECT_EQ(out[0], -1);
}

TEST(Api, EnvironmentGivesFreeNamesTheirValue) {
  constexpr char kText[] = R"(
@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)

@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    p = x_ptr + tl.arange(0, BLOCK)
    tl.store(p, activation(tl.load(p)) + OFFSET)
)";
  tw::Context ctx = interp();
  tw::CompileOptions options;
  options.environment.emplace("OFFSET", 10.0);
  options.environment.emplace("activation", tw::EnvironmentValue::function_named("relu"));
  tw::Kernel k = ctx.compile(kText, "k", options).value();
  std::vector<float> x = {-1, 2};
  k.launch({.constants = {{"BLOCK", 2}}}, x.data()).value();
  EXPECT_EQ(x, (std::vector<float>{10, 12}));
}

TEST(Api, Buffers) {
  tw::Context ctx = interp();
  tw::Buffer buffer = ctx.allocate(64).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 256, 0u);
  std::vector<float> in = iota(16), out(16);
  buffer.upload(in.data(), 64).value();
  buffer.download(out.data(), 64).value();
  EXPECT_EQ(in, out);
  EXPECT_EQ(buffer.as<float>()[5], 5);
  EXPECT_EQ(buffer.download(out.data(), 65).error().kind, tw::DiagKind::kBadArgument);
  tw::Buffer moved = std::move(buffer);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(moved.bytes(), 64u);
  auto huge = ctx.allocate(~size_t{0} - 100);
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().kind, tw::DiagKind::kOutOfMemory);
}

TEST(Api, CudaMemoryAndDescription) {
  tw::Context ctx = tw::Context::open("cuda:1").value();
  EXPECT_EQ(ctx.device().name, "Fake GPU 1");
  EXPECT_EQ(ctx.device().ordinal, 1);
  EXPECT_EQ(ctx.device().multiprocessors, 132);
  int before = tw::fake::state().live_allocations;
  {
    tw::Buffer buffer = ctx.allocate(1024).value();
    std::vector<uint8_t> in(1024, 5), out(1024);
    buffer.upload(in.data(), 1024).value();
    buffer.download(out.data(), 1024).value();
    EXPECT_EQ(in, out);
    EXPECT_EQ(tw::fake::state().live_allocations, before + 1);
    auto huge = ctx.allocate(size_t{1} << 40);
    EXPECT_EQ(huge.error().kind, tw::DiagKind::kOutOfMemory);
  }
  EXPECT_EQ(tw::fake::state().live_allocations, before);
  EXPECT_TRUE(ctx.synchronize().ok());
}

TEST(Api, UnknownDevices) {
  auto ctx = tw::Context::open("tpu");
  ASSERT_FALSE(ctx.ok());
  EXPECT_EQ(ctx.error().kind, tw::DiagKind::kNoDevice);
}

// ---- environments of several texts ----

constexpr char kMain[] = "BLOCK = 4\n@triton.jit\ndef k(x):\n    helper(x)\n";
constexpr char kHelper[] = "@triton.jit\ndef helper(x):\n    pass\n";

TEST(Merge, PutsTextsOneBehindTheOther) {
  tw::EnvironmentTable table;
  table.set_function("h", kHelper, "helper", {});
  auto merged = tw::merge(kMain, table).value();
  EXPECT_EQ(merged.text, std::string(kMain) + "\n" + kHelper);
  EXPECT_EQ(merged.environment.at("h").text, "helper");
}

TEST(Merge, RefusesNamesWithTwoMeanings) {
  auto expect_conflict = [](const tw::EnvironmentTable& table, const std::string& name) {
    auto merged = tw::merge(kMain, table);
    ASSERT_FALSE(merged.ok());
    EXPECT_EQ(merged.error().kind, tw::DiagKind::kUnsupportedEnvironment);
    EXPECT_NE(merged.error().message.find("`" + name + "`"), std::string::npos);
  };
  tw::EnvironmentTable own;
  own.set("BLOCK", tw::frontend::Constant::integer_of(8));
  tw::EnvironmentTable shadows;
  shadows.set_function("h", kHelper, "helper", own);
  expect_conflict(shadows, "BLOCK");

  tw::EnvironmentTable redefines;
  redefines.set_function("h", "BLOCK = 5\n" + std::string(kHelper), "helper", {});
  expect_conflict(redefines, "BLOCK");

  tw::EnvironmentTable same_function;
  same_function.set_function("h", "@triton.jit\ndef k(x):\n    pass\n", "k", {});
  expect_conflict(same_function, "k");

  tw::EnvironmentTable agrees;
  agrees.set_function("h", "BLOCK = 4\n" + std::string(kHelper), "helper", {});
  EXPECT_TRUE(tw::merge(kMain, agrees).ok()) << "the same line twice means the same";
}

}  // namespace
