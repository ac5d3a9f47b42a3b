// bench_runtime [cuda]: what compiling and launching cost. Never part of the tests.
//   - the matmul kernel for sm_90, cold (no cache) and from the disk cache
//   - with a GPU: launches captured in a graph, and host time of a warm launch beside a bare
//   cuLaunchKernel of the same function
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/compile/kernel.h"

namespace tilewright {
namespace {

using frontend::Constant;

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2),
                   samples.end());
  return samples[samples.size() / 2];
}

std::shared_ptr<const frontend::Program> load(const std::string& name) {
  const char* moved = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(moved ? moved : TILEWRIGHT_SOURCE_DIR) + "/kernels_lib/" + name +
                   "/kernel.py");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return frontend::Program::load(name + "/kernel.py", text).value();
}

runtime::CompileRequest matmul_request() {
  runtime::CompileRequest request;
  request.program = load("matmul");
  request.kernel = "matmul";
  request.platform = runtime::parse_platform("sm_90").value();
  request.specialization.num_warps = 8;
  for (const char* text :
       {"a_ptr=*f16:16", "b_ptr=*f16:16", "c_ptr=*f16:16", "M=i32:16", "N=i32:16", "K=i32:16",
        "stride_am=i32:16", "stride_ak=i32=1", "stride_bk=i32:16", "stride_bn=i32=1",
        "stride_cm=i32:16", "stride_cn=i32=1"})
    request.specialization.arguments.push_back(frontend::parse_argument(text).value());
  for (auto [name, value] :
       {std::pair{"BLOCK_M", 128}, {"BLOCK_N", 128}, {"BLOCK_K", 32}, {"GROUP_M", 8}}) {
    frontend::Argument argument;
    argument.name = name;
    argument.is_constant = true;
    argument.constant = Constant::integer_of(value);
    request.specialization.arguments.push_back(argument);
  }
  return request;
}

void bench_compile() {
  runtime::CompileRequest request = matmul_request();
  std::vector<double> cold, warm;
  double first = 0;
  for (int i = 0; i < 6; ++i) {
    runtime::CompileService service(cache::CacheOptions{});
    double start = now_us();
    service.compile(request).value();
    (i == 0 ? first : cold.emplace_back()) = now_us() - start;
  }
  auto folder =
      std::filesystem::temp_directory_path() / ("tilewright-bench-" + std::to_string(getpid()));
  runtime::CompileService(cache::CacheOptions{folder.string()}).compile(request).value();
  for (int i = 0; i < 9; ++i) {
    double start = now_us();
    // A fresh process would read and parse the file as well.
    request.program = load("matmul");
    runtime::CompileService service(cache::CacheOptions{folder.string()});
    service.compile(request).value();
    warm.push_back(now_us() - start);
    if (service.counters().disk_hits != 1) std::printf("NOT from disk\n");
  }
  std::filesystem::remove_all(folder);
  std::printf(
      "matmul 128x128x32 f16 for sm_90: first compile in a process %.0f ms (loads NVRTC), cold "
      "%.0f ms, "
      "from the disk cache %.2f ms\n",
      first / 1000, median(cold) / 1000, median(warm) / 1000);
}

void bench_launch() {
  auto device = runtime::Device::cuda(0).value();
  auto service = std::make_shared<runtime::CompileService>();
  auto kernel = runtime::Kernel::create(load("vector_add"), "vector_add", service, device).value();
  const device::Gpu& gpu = *device.gpu();
  device::Stream stream = device::Stream::create(gpu).value();
  uint64_t memory = gpu.allocate(1 << 16).value();
  runtime::Arg pointer = runtime::Arg::pointer(memory, Dtype::kF32, 1 << 16);
  const runtime::Arg args[] = {pointer, pointer, pointer, runtime::Arg::integer(int64_t{1000})};
  Constant block = Constant::integer_of(1024);
  const runtime::NamedArg named[] = {{"BLOCK", {}, &block}};
  runtime::LaunchOptions options;
  options.stream = stream.get();
  const runtime::Variant* variant = kernel->prepare(options, args, named).value();
  const runtime::CompiledKernel& compiled = *variant->compiled;
  auto module = device::Module::load(gpu.driver(), gpu.context(), compiled.function->cubin(),
                                     compiled.source.entry, compiled.source.shared_bytes)
                    .value();
  int32_t n = 1000;
  void* params[] = {&memory, &memory, &memory, &n};
  device::ContextScope scope(gpu.driver(), gpu.context());
  constexpr int kBatch = 256;  // stays below the depth of the driver's queue
  std::vector<double> bare, by_name, by_variant;
  auto timed = [&](std::vector<double>& samples, auto&& launch) {
    double start = now_us();
    for (int i = 0; i < kBatch; ++i) launch();
    samples.push_back((now_us() - start) / kBatch);
    gpu.synchronize(stream.get()).value();
  };
  for (int round = 0; round < 41; ++round) {
    timed(bare, [&] {
      gpu.driver().launch(
          module->function(), 1, 1, 1, static_cast<unsigned>(compiled.source.threads), 1, 1,
          static_cast<unsigned>(compiled.source.shared_bytes), stream.get(), params, nullptr);
    });
    timed(by_name, [&] { kernel->launch(options, args, named).value(); });
    timed(by_variant, [&] { kernel->launch_variant(*variant, options, args, named).value(); });
  }
  std::printf(
      "%s, vector_add, host time a launch: cuLaunchKernel %.2f us, Kernel::launch %.2f us, "
      "launch_variant %.2f us\n",
      gpu.info().name.c_str(), median(bare), median(by_name), median(by_variant));
  gpu.free(memory);
}

// Launches recorded into a CUDA graph: x += x, ten times, replayed twice.
void show_graph() {
  auto device = runtime::Device::cuda(0).value();
  auto service = std::make_shared<runtime::CompileService>();
  auto kernel = runtime::Kernel::create(load("vector_add"), "vector_add", service, device).value();
  const device::Gpu& gpu = *device.gpu();
  device::Stream stream = device::Stream::create(gpu).value();
  std::vector<float> host(1000, 1.0f);
  uint64_t memory = gpu.allocate(4096).value();
  gpu.upload(memory, host.data(), 4000, stream.get()).value();
  runtime::Arg pointer = runtime::Arg::pointer(memory, Dtype::kF32, 4000);
  const runtime::Arg args[] = {pointer, pointer, pointer, runtime::Arg::integer(int64_t{1000})};
  Constant block = Constant::integer_of(1024);
  const runtime::NamedArg named[] = {{"BLOCK", {}, &block}};
  runtime::LaunchOptions options;
  options.stream = stream.get();
  kernel->prepare(options, args, named).value();
  auto graph = device::Graph::capture(gpu, stream.get(), [&]() -> Status {
                 for (int i = 0; i < 10; ++i) TW_TRY(kernel->launch(options, args, named));
                 return {};
               }).value();
  graph.launch(stream.get()).value();
  graph.launch(stream.get()).value();
  gpu.download(host.data(), memory, 4000, stream.get()).value();
  gpu.synchronize(stream.get()).value();
  bool right = std::all_of(host.begin(), host.end(), [](float x) { return x == 1048576.0f; });
  std::printf("ten launches captured in a CUDA graph, replayed twice: %s\n",
              right ? "right" : "WRONG");
  gpu.free(memory);
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  try {
    tilewright::bench_compile();
    if (argc > 1 && std::strcmp(argv[1], "cuda") == 0) {
      tilewright::show_graph();
      tilewright::bench_launch();
    }
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
