// The C++ interface: translation to the runtime's own types.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/api/merge.h"
#include "runtime/compile/kernel.h"
#include "tilewright/tilewright.hpp"

namespace tilewright {
namespace {

constexpr size_t kHostAlignment = 256;

cache::CacheOptions cache_options(const std::string& directory) {
  cache::CacheOptions options = cache::CacheOptions::from_environment();
  if (!directory.empty()) options.directory = directory == "off" ? "" : directory;
  return options;
}

// The named values of a call in the runtime's form. Constants of kinds that arguments do not have
// are built here; numbers cost nothing.
struct NamedValues {
  union Slot {  // unused ones stay uninitialised
    runtime::NamedArg named;
    Slot() {}
  };
  std::array<Slot, Constants::kCapacity> slots;
  std::vector<frontend::Constant> built;  // reserved at the first use, so that addresses stay
  size_t count = 0;

  Status fill(const Constants& constants) {
    if (constants.size() > Constants::kCapacity)
      return make_error(DiagKind::kBadLaunch,
                        fmt::format("a launch names {} values, but at most {} are possible",
                                    constants.size(), Constants::kCapacity));
    for (const Constants::Entry& entry : constants) {
      runtime::NamedArg& out = slots[count].named;
      out = {entry.name, entry.value.argument, nullptr};
      if (entry.value.kind != Value::Kind::kArgument) {
        built.reserve(Constants::kCapacity);
        out.constant = &built.emplace_back(to_constant(entry.value));
      }
      ++count;
    }
    return {};
  }
  std::span<const runtime::NamedArg> span() const { return {&slots[0].named, count}; }
};

runtime::LaunchOptions internal_options(const LaunchOptions& options) {
  runtime::LaunchOptions out;
  out.grid = {options.grid.x, options.grid.y, options.grid.z};
  out.stream = options.stream;
  out.call = {options.num_warps, options.num_stages, options.fp_fusion, options.debug,
              options.maxnreg};
  out.threads = options.threads;
  return out;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text;
  char part[4096];
  size_t got = 0;
  while (file && (got = std::fread(part, 1, sizeof part, file.get())) > 0) text.append(part, got);
  if (file && !std::ferror(file.get())) return text;
  return make_error(DiagKind::kIo, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

frontend::Constant to_constant(const Value& value) {
  using frontend::Constant;
  if (value.kind == Value::Kind::kString) return Constant::string(std::string(value.text));
  if (value.kind == Value::Kind::kDtype) return Constant::type(value.dtype);
  const Argument& a = value.argument;
  switch (a.kind) {
    case Argument::Kind::kBool:
      return Constant::boolean(a.bits != 0);
    case Argument::Kind::kInt: {
      Constant constant = Constant::integer_of(static_cast<int64_t>(a.bits));
      constant.is_unsigned = a.is_unsigned;
      return constant;
    }
    case Argument::Kind::kFloat:
      return Constant::real(std::bit_cast<double>(a.bits));
    default:
      return Constant::none();
  }
}

std::string_view version() {
  return "0.1.0";
}

// ---- kernel ----

const std::string& Kernel::name() const {
  return kernel_->name();
}
std::string Kernel::signature() const {
  return runtime::signature(kernel_->info());
}

Status Kernel::launch_packed(const LaunchOptions& options,
                             std::span<const Argument> arguments) const {
  if (options.constants.size() == 0)
    return kernel_->launch(internal_options(options), arguments, {});
  NamedValues values;
  TW_TRY(values.fill(options.constants));
  return kernel_->launch(internal_options(options), arguments, values.span());
}

Result<runtime::CompiledPtr> compile_for_target(const Kernel& kernel, const std::string& target,
                                                const LaunchOptions& options,
                                                std::span<const Argument> arguments) {
  NamedValues values;
  TW_TRY(values.fill(options.constants));
  TW_ASSIGN(runtime::Platform platform, runtime::parse_platform(target));
  if (platform.backend != runtime::Backend::kCuda)
    return make_error(DiagKind::kNoDevice, fmt::format("`{}` is not a CUDA target", target));
  return kernel.internal()->compile_for(platform, internal_options(options).call, arguments,
                                        values.span());
}

Result<KernelResources> Kernel::prepare_packed(const LaunchOptions& options,
                                               std::span<const Argument> arguments) const {
  NamedValues values;
  TW_TRY(values.fill(options.constants));
  TW_ASSIGN(const runtime::Variant* variant,
            kernel_->prepare(internal_options(options), arguments, values.span()));
  const runtime::CompiledKernel& compiled = *variant->compiled;
  KernelResources out;
  out.registers = compiled.resources.registers;
  out.shared_bytes = compiled.resources.shared_bytes;
  out.stack_bytes = compiled.resources.stack_bytes;
  out.spills = compiled.resources.spill_instructions;
  out.code_bytes = compiled.resources.code_bytes;
  if (compiled.function) out.threads = compiled.source.threads;
  out.from_disk = compiled.from_disk;
  out.compile_ms = compiled.compile_ms;
  out.target = compiled.platform.name();
  return out;
}

// ---- buffer ----

Buffer::Buffer(std::shared_ptr<const runtime::Device> device, void* data, size_t bytes)
    : device_(std::move(device)), data_(data), bytes_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::move(other.device_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Buffer::~Buffer() {
  if (!data_) return;
  if (device_->gpu())
    device_->gpu()->free(reinterpret_cast<uint64_t>(data_));
  else
    std::free(data_);
}

namespace {
Status check_size(size_t asked, size_t have) {
  if (asked <= have) return {};
  return make_error(DiagKind::kBadArgument,
                    fmt::format("{} bytes are to be copied, but the buffer has {}", asked, have));
}
}  // namespace

Status Buffer::upload(const void* from, size_t bytes, void* stream) {
  TW_TRY(check_size(bytes, bytes_));
  if (bytes == 0) return {};
  device::Gpu* gpu = device_->gpu();
  if (!gpu) {
    std::memcpy(data_, from, bytes);
    return {};
  }
  auto handle = static_cast<device::CUstream>(stream);
  TW_TRY(gpu->upload(reinterpret_cast<uint64_t>(data_), from, bytes, handle));
  return gpu->synchronize(handle);
}

Status Buffer::download(void* to, size_t bytes, void* stream) const {
  TW_TRY(check_size(bytes, bytes_));
  if (bytes == 0) return {};
  device::Gpu* gpu = device_->gpu();
  if (!gpu) {
    std::memcpy(to, data_, bytes);
    return {};
  }
  auto handle = static_cast<device::CUstream>(stream);
  TW_TRY(gpu->download(to, reinterpret_cast<uint64_t>(data_), bytes, handle));
  return gpu->synchronize(handle);
}

// ---- context ----

Context::Context(std::shared_ptr<const runtime::Device> device,
                 std::shared_ptr<runtime::CompileService> service)
    : device_(std::move(device)), service_(std::move(service)) {}

Context::Context()
    : Context(std::make_shared<const runtime::Device>(runtime::Device::open("auto").value()),
              std::make_shared<runtime::CompileService>()) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

Result<Context> Context::open(const ContextOptions& options) {
  TW_ASSIGN(runtime::Device device, runtime::Device::open(options.device));
  return Context(std::make_shared<const runtime::Device>(std::move(device)),
                 std::make_shared<runtime::CompileService>(cache_options(options.cache)));
}

Result<Context> Context::open(std::string_view device) {
  ContextOptions options;
  options.device = device;
  return open(options);
}

DeviceDescription Context::device() const {
  DeviceDescription out;
  out.kind = runtime::backend_name(device_->platform().backend);
  out.target = device_->platform().name();
  out.text = device_->description();
  if (const device::Gpu* gpu = device_->gpu()) {
    out.name = gpu->info().name;
    out.ordinal = gpu->info().ordinal;
    out.multiprocessors = gpu->info().multiprocessors;
    out.memory_bytes = gpu->info().memory_bytes;
  } else if (device_->platform().backend == runtime::Backend::kCpu) {
    out.name = cpu::target_description();
  }
  return out;
}

Result<Kernel> Context::compile(std::string_view path_or_source, std::string_view kernel,
                                const CompileOptions& options) const {
  bool is_source = path_or_source.find('\n') != path_or_source.npos;
  std::string path = is_source ? options.path : std::string(path_or_source);
  std::string text(path_or_source);
  if (path.empty()) path = "<source>";
  if (!is_source) {
    TW_ASSIGN(text, read_text_file(path));
  }
  std::map<std::string, frontend::Constant> environment;
  for (const auto& [name, entry] : options.environment)
    environment[name] =
        entry.function.empty() ? to_constant(entry.value) : function_constant(entry.function);
  TW_ASSIGN(auto program, load_program(std::move(path), std::move(text), std::move(environment)));
  TW_ASSIGN(auto found,
            runtime::Kernel::create(std::move(program), std::string(kernel), service_, *device_));
  return Kernel(std::move(found));
}

Result<Buffer> Context::allocate(size_t bytes) const {
  if (device::Gpu* gpu = device_->gpu()) {
    TW_ASSIGN(uint64_t address, gpu->allocate(bytes));
    return Buffer(device_, reinterpret_cast<void*>(address), bytes);
  }
  size_t rounded = (bytes / kHostAlignment + 1) * kHostAlignment;
  void* data = rounded > bytes ? std::aligned_alloc(kHostAlignment, rounded) : nullptr;
  if (!data)
    return make_error(DiagKind::kOutOfMemory,
                      fmt::format("{} bytes of host memory are not available", bytes));
  return Buffer(device_, data, bytes);
}

Status Context::synchronize(void* stream) const {
  if (const device::Gpu* gpu = device_->gpu())
    return gpu->synchronize(static_cast<device::CUstream>(stream));
  return {};
}

CacheStatistics Context::cache() const {
  runtime::CompileCounters counters = service_->counters();
  return {counters.compiled, counters.memory_hits, counters.disk_hits + counters.exact_hits,
          service_->disk().options().directory};
}

}  // namespace tilewright
