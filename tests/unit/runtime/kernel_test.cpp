// Launches: on the host executors for real, and on the stand-in driver for what reaches it.
#include "runtime/compile/kernel.h"

#include <set>
#include <thread>

#include "tests/unit/runtime/fixture.h"

namespace tilewright::runtime {
namespace {

std::vector<float> iota(size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i);
  return out;
}

class HostDevices : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, HostDevices, ::testing::Values("interp", "cpu", "emulated"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(HostDevices, AddAtAnOddSize) {
  if (std::string(GetParam()) == "cpu" && !cpu::available()) GTEST_SKIP() << "built without LLVM";
  auto kernel = kernel_on(GetParam(), kAdd, "add");
  std::vector<float> x = iota(1000), y = iota(1000), out(1001, -1);
  LaunchOptions options;
  options.grid = {4, 1, 1};
  std::vector<Arg> args = {pointer_to(x), pointer_to(y), pointer_to(out),
                           Arg::integer(int64_t{1000})};
  std::vector<NamedArg> constants = {named("BLOCK", 256)};
  Status status = kernel->launch(options, args, constants);
  if (!status && status.error().kind == DiagKind::kNoHostCompiler)
    GTEST_SKIP() << status.error().message;
  ASSERT_TRUE(status.ok()) << status.error().text();
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], 2 * x[i]);
  EXPECT_EQ(out[1000], -1);
}

TEST(KernelTest, HostDevicesTakeNoStream) {
  auto kernel = kernel_on("interp", kAdd, "add");
  LaunchOptions options;
  options.stream = &options;
  Status status = kernel->launch(options, {}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kBadLaunch);
}

TEST(KernelTest, OutOfBoundsShowsTheLineOfTheKernel) {
  auto kernel = kernel_on("interp", kAdd, "add");
  std::vector<float> x = iota(8), y = iota(8), out(8);
  std::vector<Arg> args = {pointer_to(x), pointer_to(y), pointer_to(out), Arg::integer(int64_t{9})};
  std::vector<NamedArg> constants = {named("BLOCK", 16)};
  Status status = kernel->launch({}, args, constants);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kOutOfBounds);
  EXPECT_NE(status.error().text().find("test.py:9:"), std::string::npos) << status.error().text();
}

TEST(KernelTest, UnknownKernelListsThoseThereAre) {
  auto kernel =
      Kernel::create(program_of(kAdd), "sub", memory_service(), Device::open("interp").value());
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, DiagKind::kNoKernel);
  EXPECT_NE(kernel.error().text().find("the kernels are add"), std::string::npos);
}

TEST(KernelTest, OneVariantASpecialisation) {
  auto service = memory_service();
  auto kernel = kernel_on("interp", kAdd, "add", service);
  std::vector<float> data(4096);
  std::set<const Variant*> variants;
  auto prepare = [&](int64_t n, int64_t block, Dtype dtype = Dtype::kF32, uint64_t shift = 0) {
    auto base = reinterpret_cast<uint64_t>(data.data()) / 16 * 16 + 16 + shift;
    std::vector<Arg> args(3, Arg::pointer(base, dtype));
    args.push_back(Arg::integer(n));
    std::vector<NamedArg> constants = {named("BLOCK", block)};
    const Variant* variant = kernel->prepare({}, args, constants).value();
    variants.insert(variant);
    return variant;
  };
  const Variant* first = prepare(100, 64);
  EXPECT_EQ(prepare(108, 64), first) << "100 and 108 specialise alike";
  for (int64_t n : {101, 102, 104, 112}) EXPECT_NE(prepare(n, 64), first) << "another divisor";
  EXPECT_NE(prepare(1, 64), first) << "one";
  EXPECT_NE(prepare(int64_t{1} << 40, 64), first) << "64 bits";
  EXPECT_NE(prepare(100, 128), first) << "another constant";
  EXPECT_NE(prepare(100, 64, Dtype::kF16), first) << "another dtype";
  EXPECT_NE(prepare(100, 64, Dtype::kF32, 4), first) << "another alignment";
  EXPECT_EQ(variants.size(), 10u);
  EXPECT_EQ(service->counters().compiled, 10u);
}

TEST(KernelTest, ConstantsByPositionAreTheirValue) {
  auto kernel = kernel_on("interp", kAdd, "add");
  std::vector<float> x = iota(8), y = iota(8), out(8);
  auto prepare = [&](int64_t block) {
    std::vector<Arg> args = {pointer_to(x), pointer_to(y), pointer_to(out),
                             Arg::integer(int64_t{8}), Arg::integer(block)};
    return kernel->prepare({}, args, {}).value();
  };
  EXPECT_NE(prepare(32), prepare(64));
  EXPECT_EQ(prepare(32), prepare(32));
}

TEST(KernelTest, ThreadsShareVariants) {
  auto service = memory_service();
  auto kernel = kernel_on("interp", kAdd, "add", service);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x = iota(64), out(64);
      std::vector<Arg> args = {pointer_to(x), pointer_to(x), pointer_to(out),
                               Arg::integer(int64_t{63})};
      std::vector<NamedArg> constants = {named("BLOCK", t % 2 ? 64 : 32)};
      LaunchOptions options;
      options.grid = {2, 1, 1};
      for (int i = 0; i < 5; ++i)
        if (!kernel->launch(options, args, constants) || out[62] != 124 || out[63] != 0) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(service->counters().compiled, 4u) << "two constants, two alignments at most";
}

// ---- the stand-in driver ----

bool have_nvrtc() {
  return cuda::nvrtc_info().ok();
}

struct CudaCall {
  std::vector<float> data = std::vector<float>(64);
  uint64_t base = reinterpret_cast<uint64_t>(data.data()) / 16 * 16 + 16;
  std::vector<Arg> args = {Arg::pointer(base, Dtype::kF32), Arg::pointer(base, Dtype::kF32),
                           Arg::pointer(base, Dtype::kF32), Arg::integer(int64_t{50})};
  std::vector<NamedArg> constants = {named("BLOCK", 32)};
};

TEST(CudaLaunch, ReachesTheDriverWithItsParameters) {
  if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC";
  auto kernel = kernel_on("cuda:0", kAdd, "add");
  CudaCall call;
  fake::reset(4);
  LaunchOptions options;
  options.grid = {2, 1, 1};
  options.call.num_warps = 2;
  kernel->launch(options, call.args, call.constants).value();
  call.args[3] = Arg::integer(int64_t{46});
  kernel->launch(options, call.args, call.constants).value();
  FakeState state = fake::state();
  ASSERT_EQ(state.launches.size(), 2u);
  EXPECT_EQ(state.launches[0].grid, (std::array<unsigned, 3>{2, 1, 1}));
  EXPECT_EQ(state.launches[0].threads, 64u);
  EXPECT_EQ(state.launches[0].parameters,
            (std::vector<uint64_t>{call.base, call.base, call.base, 50}));
  EXPECT_EQ(state.launches[1].parameters[3], 46u);
  EXPECT_EQ(state.loads, 1);
  options.call.maxnreg = 32;
  kernel->launch(options, call.args, call.constants).value();
  EXPECT_EQ(fake::state().loads, 2) << "another bound on registers is another kernel";
  EXPECT_EQ(state.context_depth, 0);
}

TEST(CudaLaunch, HostMemoryIsRefusedAtTheFirstLaunch) {
  if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC";
  auto kernel = kernel_on("cuda:0", kAdd, "add");
  CudaCall call;
  fake::reset(4);
  setenv("FAKE_CUDA_PAGEABLE", "0", 1);
  Status host = kernel->launch({}, call.args, call.constants);
  uint64_t memory = kernel->device().gpu()->allocate(1024).value();
  for (size_t i = 0; i < 3; ++i) call.args[i] = Arg::pointer(memory + 512, Dtype::kF32);
  Status device = kernel->launch({}, call.args, call.constants);
  unsetenv("FAKE_CUDA_PAGEABLE");
  kernel->device().gpu()->free(memory);
  ASSERT_FALSE(host.ok());
  EXPECT_EQ(host.error().kind, DiagKind::kBadArgument);
  EXPECT_NE(host.error().message.find("argument 1 of kernel `add` lies in host memory"),
            std::string::npos)
      << host.error().message;
  EXPECT_TRUE(device.ok());
  EXPECT_EQ(fake::state().launches.size(), 1u);
}

TEST(CudaLaunch, EmptyAndOversizedGrids) {
  if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC";
  auto kernel = kernel_on("cuda:0", kAdd, "add");
  CudaCall call;
  fake::reset(4);
  LaunchOptions options;
  options.grid = {0, 1, 1};
  kernel->launch(options, call.args, call.constants).value();
  EXPECT_TRUE(fake::state().launches.empty());
  options.grid = {1, 65536, 1};
  Status status = kernel->launch(options, call.args, call.constants);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kBadLaunch);
}

TEST(CudaLaunch, DeviceAndContextComeFromTheStream) {
  if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC";
  setenv("FAKE_CUDA_SM", "90,80", 1);  // read when a device is first opened
  auto kernel = kernel_on("cuda:0", kAdd, "add");
  CudaCall call;
  fake::reset(4);
  LaunchOptions options;
  options.stream = fake::foreign_stream(0, true);
  kernel->launch(options, call.args, call.constants).value();
  options.stream = fake::foreign_stream(0, false);  // the user's own context on the same device
  kernel->launch(options, call.args, call.constants).value();
  options.stream = fake::foreign_stream(1, true);
  kernel->launch(options, call.args, call.constants).value();
  kernel->launch(options, call.args, call.constants).value();
  FakeState state = fake::state();
  ASSERT_EQ(state.launches.size(), 4u);
  EXPECT_EQ(state.launches[0].device, 0);
  EXPECT_EQ(state.launches[1].device, 0);
  EXPECT_EQ(state.launches[2].device, 1);
  EXPECT_EQ(state.loads, 3) << "one module a context";
  EXPECT_EQ(state.context_depth, 0);
}

TEST(CudaLaunch, CapturableAfterPrepare) {
  if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC";
  auto kernel = kernel_on("cuda:0", kAdd, "add");
  CudaCall call;
  const device::Gpu& gpu = *kernel->device().gpu();
  device::Stream stream = device::Stream::create(gpu).value();
  LaunchOptions options;
  options.stream = stream.get();
  const Variant* variant = kernel->prepare(options, call.args, call.constants).value();
  EXPECT_GT(variant->compiled->resources.registers, 0);
  fake::reset(4);
  auto graph = device::Graph::capture(
      gpu, stream.get(), [&] { return kernel->launch(options, call.args, call.constants); });
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(fake::state().launches.size(), 1u);
  EXPECT_EQ(fake::state().loads, 0);
}

TEST(DeviceChoice, NamesAndErrors) {
  EXPECT_TRUE(Device::open("cuda").value().is_cuda());
  EXPECT_EQ(Device::open("auto").value().platform().backend, Backend::kCuda);
  EXPECT_EQ(Device::open("emulated:sm_90").value().platform().name(), "emulated:sm_90");
  EXPECT_EQ(Device::open("interp").value().description(), "interp");
  EXPECT_EQ(Device::open("cuda:0").value().description().substr(0, 20), "cuda:0 (Fake GPU 0, ");
  for (const char* name : {"gpu", "cuda:x", "cuda:9", "emulated:sm_1", "sm_90"}) {
    auto device = Device::open(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.error().kind, DiagKind::kNoDevice) << name;
  }
}

}  // namespace
}  // namespace tilewright::runtime
