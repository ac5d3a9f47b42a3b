// Kernels launched through the runtime: binding, specialisation, caches, launch. On a GPU, buffers
// travel there and back with their guard zones.
#include "runtime/compile/kernel.h"
#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

// A buffer's image in device memory, elements aligned as on the host; freed at the end of scope.
class DeviceImage {
 public:
  DeviceImage(const device::Gpu& gpu, Buffer& buffer) : gpu_(gpu), buffer_(buffer) {}
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;
  ~DeviceImage() {
    if (allocation_) gpu_.free(allocation_);
  }
  Status upload() {
    TW_ASSIGN(allocation_, gpu_.allocate(buffer_.storage().size() + 16));
    start_ = allocation_ + (16 - buffer_.offset() % 16) % 16;
    return gpu_.upload(start_, buffer_.storage().data(), buffer_.storage().size());
  }
  Status download() {
    return gpu_.download(buffer_.storage().data(), start_, buffer_.storage().size());
  }
  uint64_t data() const { return start_ + buffer_.offset(); }

 private:
  const device::Gpu& gpu_;
  Buffer& buffer_;
  uint64_t allocation_ = 0, start_ = 0;
};

class RuntimeExecutor : public Executor {
 public:
  explicit RuntimeExecutor(runtime::Device device)
      : device_(std::move(device)), service_(std::make_shared<runtime::CompileService>()) {}
  std::string name() const override { return "runtime " + device_.platform().name(); }

  Status launch(const LaunchSpec& spec) override {
    TW_ASSIGN(auto program, load_program(spec.file));
    TW_ASSIGN(auto kernel, runtime::Kernel::create(program, spec.kernel, service_, device_));
    std::vector<std::unique_ptr<DeviceImage>> images;
    std::vector<runtime::NamedArg> named;
    for (const LaunchArgument& argument : spec.arguments) {
      TW_ASSIGN(auto value, convert(argument, images));
      named.push_back({argument.name, value, nullptr});
    }
    for (auto& [name, constant] : spec.constants) named.push_back({name, {}, &constant});
    runtime::LaunchOptions options;
    options.grid = spec.grid;
    options.call.num_warps = spec.num_warps;
    options.call.num_stages = spec.num_stages;
    TW_TRY(kernel->launch(options, {}, named));
    if (!device_.gpu()) return {};
    TW_TRY(device_.gpu()->synchronize());
    for (auto& image : images) TW_TRY(image->download());
    return device_.gpu()->synchronize();
  }

 private:
  Result<runtime::Arg> convert(const LaunchArgument& argument,
                               std::vector<std::unique_ptr<DeviceImage>>& images) {
    switch (argument.kind) {
      case LaunchArgument::Kind::kNone:
        return runtime::Arg::none();
      case LaunchArgument::Kind::kInt:
        return runtime::Arg::integer(argument.integer);
      case LaunchArgument::Kind::kFloat:
        return runtime::Arg::real(argument.number);
      case LaunchArgument::Kind::kBuffer:
        break;
    }
    Buffer& buffer = *argument.buffer;
    if (!device_.gpu())
      return runtime::Arg::pointer(reinterpret_cast<uint64_t>(buffer.data()), buffer.dtype(),
                                   buffer.bytes());
    images.push_back(std::make_unique<DeviceImage>(*device_.gpu(), buffer));
    TW_TRY(images.back()->upload());
    return runtime::Arg::pointer(images.back()->data(), buffer.dtype(), buffer.bytes());
  }

  runtime::Device device_;
  std::shared_ptr<runtime::CompileService> service_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_runtime_executor(std::string_view device) {
  TW_ASSIGN(auto opened, runtime::Device::open(device));
  return std::unique_ptr<Executor>(std::make_unique<RuntimeExecutor>(std::move(opened)));
}

}  // namespace tilewright::kernel_tests
