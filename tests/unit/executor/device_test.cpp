// The driver, devices, memory, modules and launches, against the stand-in driver.
#include "runtime/device/device.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/launch/function.h"
#include "tests/unit/executor/fake_cuda/control.h"

namespace tilewright::device {
namespace {

const std::string kCubin = std::string(
                               "\x7f"
                               "ELF") +
                           std::string(60, '\0');

Gpu& gpu(int ordinal = 0) {
  return *Gpu::open(ordinal).value();
}

TEST(Driver, MissingLibrary) {
  auto driver = load_driver("/no/such/libcuda.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().kind, DiagKind::kNoDriver);
  EXPECT_NE(driver.error().message.find("/no/such/libcuda.so.1"), std::string::npos);
}

TEST(Driver, LibraryThatIsNoDriver) {
  auto driver = load_driver("libc.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().kind, DiagKind::kNoDriver);
  EXPECT_NE(driver.error().message.find("cuInit"), std::string::npos) << driver.error().message;
}

TEST(Driver, StubLibraryAndOtherFailures) {
  setenv("FAKE_CUDA_INIT", "34", 1);
  auto stub = load_driver(TILEWRIGHT_FAKE_CUDA);
  setenv("FAKE_CUDA_INIT", "100", 1);
  auto empty = load_driver(TILEWRIGHT_FAKE_CUDA);
  setenv("FAKE_CUDA_INIT", "999", 1);
  auto broken = load_driver(TILEWRIGHT_FAKE_CUDA);
  unsetenv("FAKE_CUDA_INIT");
  ASSERT_FALSE(stub.ok());
  EXPECT_EQ(stub.error().kind, DiagKind::kNoDriver);
  EXPECT_NE(stub.error().message.find("stub library"), std::string::npos);
  EXPECT_EQ(empty.error().kind, DiagKind::kNoDevice);
  EXPECT_EQ(broken.error().kind, DiagKind::kNoDriver);
  EXPECT_NE(broken.error().message.find("cuInit failed with CUDA_ERROR_OTHER (999)"),
            std::string::npos)
      << broken.error().message;
}

TEST(Devices, AreListedAndOpenedOnce) {
  auto devices = list_devices().value();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].name, "Fake GPU 1");
  EXPECT_EQ(devices[1].ordinal, 1);
  EXPECT_EQ(devices[0].major, 9);
  EXPECT_EQ(devices[0].multiprocessors, 132);
  EXPECT_EQ(devices[0].pci, "0000:00:00.0");
  EXPECT_EQ(devices[0].max_shared_per_block, 232448);
  EXPECT_EQ(Gpu::open(1).value(), Gpu::open(1).value());
  auto absent = Gpu::open(7);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, DiagKind::kNoDevice);
  EXPECT_NE(absent.error().message.find("shows 2 devices"), std::string::npos);
}

TEST(Memory, AllocatesCopiesAndFillsWithoutACurrentContext) {
  int before = fake::state().live_allocations;
  uint64_t a = gpu().allocate(16).value(), b = gpu().allocate(16).value();
  std::vector<uint8_t> in(16, 7), out(16);
  gpu().upload(a, in.data(), 16).value();
  gpu().copy(b, a, 16).value();
  gpu().fill(b, 9, 4).value();
  gpu().download(out.data(), b, 16).value();
  gpu().synchronize().value();
  EXPECT_EQ(out[0], 9);
  EXPECT_EQ(out[15], 7);
  gpu().free(a);
  gpu().free(b);
  EXPECT_EQ(fake::state().live_allocations, before);
  EXPECT_EQ(fake::state().context_depth, 0) << "no context stays pushed";
}

TEST(Memory, OutOfMemorySaysHowMuchIsFree) {
  auto result = gpu().allocate(size_t{1} << 40);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, DiagKind::kOutOfMemory);
  EXPECT_NE(result.error().message.find("1099511627776 bytes do not fit on Fake GPU 0"),
            std::string::npos)
      << result.error().message;
  EXPECT_NE(result.error().message.find("of 1048576 bytes are free"), std::string::npos);
}

TEST(Function, LoadsOncePerContextAndPassesParameters) {
  fake::reset(2);
  {
    launch::Function function(kCubin, "kernel", 256, 100 * 1024);
    uint64_t slots[] = {11, 22};
    for (int i = 0; i < 3; ++i)
      function.launch(gpu().driver(), gpu().context(), {4, 5, 6}, nullptr, slots, 2).value();
    function.launch(gpu(1).driver(), gpu(1).context(), {1, 1, 1}, nullptr, slots, 2).value();
    FakeState state = fake::state();
    EXPECT_EQ(state.loads, 2);
    ASSERT_EQ(state.launches.size(), 4u);
    const FakeLaunch& first = state.launches[0];
    EXPECT_EQ(first.function, "kernel");
    EXPECT_EQ(first.grid, (std::array<unsigned, 3>{4, 5, 6}));
    EXPECT_EQ(first.threads, 256u);
    EXPECT_EQ(first.shared_bytes, 100u * 1024);
    EXPECT_EQ(first.parameters, (std::vector<uint64_t>{11, 22}));
    EXPECT_EQ(state.launches[3].device, 1);
  }
  EXPECT_EQ(fake::state().live_modules, 0) << "modules are unloaded with the function";
}

TEST(Function, ManyThreadsLoadOnce) {
  fake::reset(1);
  launch::Function function(kCubin, "kernel", 128, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      uint64_t slot = 1;
      for (int i = 0; i < 50; ++i)
        function.launch(gpu().driver(), gpu().context(), {1, 1, 1}, nullptr, &slot, 1).value();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake::state().loads, 1);
  EXPECT_EQ(fake::state().launches.size(), 400u);
}

TEST(Function, ReportsWhatTheDriverSays) {
  launch::Function damaged("not a cubin at all", "kernel", 128, 0);
  Status status = damaged.prepare(gpu().driver(), gpu().context());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kCudaError);
  EXPECT_NE(status.error().message.find("cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_IMAGE"),
            std::string::npos)
      << status.error().message;
  launch::Function absent(kCubin, "absent", 128, 0);
  EXPECT_FALSE(absent.prepare(gpu().driver(), gpu().context()).ok());
  EXPECT_EQ(fake::state().context_depth, 0);
}

TEST(Graphs, CaptureAfterPrepare) {
  fake::reset(1);
  Stream stream = Stream::create(gpu()).value();
  launch::Function function(kCubin, "kernel", 128, 0);
  uint64_t slot = 1;
  auto record = [&] {
    return function.launch(gpu().driver(), gpu().context(), {1, 1, 1}, stream.get(), &slot, 1);
  };
  // Loading is not allowed while capturing; the capture is ended all the same.
  EXPECT_FALSE(Graph::capture(gpu(), stream.get(), record).ok());
  function.prepare(gpu().driver(), gpu().context()).value();
  Graph graph = Graph::capture(gpu(), stream.get(), record).value();
  Event start = Event::create(gpu()).value(), end = Event::create(gpu()).value();
  start.record(stream.get()).value();
  graph.launch(stream.get()).value();
  graph.launch(stream.get()).value();
  end.record(stream.get()).value();
  end.synchronize().value();
  EXPECT_EQ(end.milliseconds_since(start).value(), 2.0);
}

}  // namespace
}  // namespace tilewright::device
