// Devices, contexts and memory.
#include "runtime/device/device.h"

#include <fmt/format.h>

#include <mutex>

namespace tilewright::device {
namespace {

// CUdevice_attribute values.
enum Attribute {
  kMaxThreadsPerBlock = 1,
  kClockRate = 13,
  kMultiprocessors = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kPageableMemoryAccess = 88,
  kMaxSharedPerBlockOptin = 97,
};

int attribute(const Driver& driver, CUdevice device, Attribute what) {
  int value = 0;
  return driver.device_attribute(&value, what, device) == 0 ? value : 0;
}

Result<DeviceInfo> describe(const Driver& driver, int ordinal, CUdevice device) {
  DeviceInfo info;
  info.ordinal = ordinal;
  char text[256] = {};
  TW_CUDA(driver, device_name, text, sizeof text, device);
  info.name = text;
  if (driver.device_pci(text, sizeof text, device) == 0) info.pci = text;
  size_t bytes = 0;
  TW_CUDA(driver, device_memory, &bytes, device);
  info.memory_bytes = bytes;
  info.major = attribute(driver, device, kMajor);
  info.minor = attribute(driver, device, kMinor);
  info.multiprocessors = attribute(driver, device, kMultiprocessors);
  info.max_shared_per_block = attribute(driver, device, kMaxSharedPerBlockOptin);
  info.max_threads_per_block = attribute(driver, device, kMaxThreadsPerBlock);
  info.l2_bytes = attribute(driver, device, kL2Bytes);
  info.clock_khz = attribute(driver, device, kClockRate);
  info.memory_clock_khz = attribute(driver, device, kMemoryClockRate);
  info.memory_bus_bits = attribute(driver, device, kMemoryBusWidth);
  info.driver_version = driver.version;
  return info;
}

ErrorInfo no_device(std::string message) {
  return make_error(DiagKind::kNoDevice, std::move(message),
                    "use the device `cpu`, or check CUDA_VISIBLE_DEVICES");
}

Result<int> count_devices(const Driver& driver) {
  int count = 0;
  TW_CUDA(driver, device_count, &count);
  return count;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices() {
  TW_ASSIGN(const Driver* cuda, driver());
  TW_ASSIGN(int count, count_devices(*cuda));
  if (count == 0) return no_device("the CUDA driver shows no device");
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    TW_CUDA(*cuda, device_get, &device, ordinal);
    TW_ASSIGN(DeviceInfo info, describe(*cuda, ordinal, device));
    devices.push_back(std::move(info));
  }
  return devices;
}

Result<Gpu*> Gpu::open(int ordinal) {
  TW_ASSIGN(const Driver* cuda, device::driver());
  static std::mutex mutex;
  static auto& opened = *new std::vector<Gpu*>();  // never destroyed: see the class
  std::lock_guard lock(mutex);
  for (Gpu* gpu : opened)
    if (gpu->info_.ordinal == ordinal) return gpu;
  TW_ASSIGN(int count, count_devices(*cuda));
  if (ordinal < 0 || ordinal >= count)
    return no_device(fmt::format("there is no CUDA device {}; the driver shows {} device{}",
                                 ordinal, count, count == 1 ? "" : "s"));
  CUdevice device = 0;
  TW_CUDA(*cuda, device_get, &device, ordinal);
  TW_ASSIGN(DeviceInfo info, describe(*cuda, ordinal, device));
  CUcontext context = nullptr;
  TW_CUDA(*cuda, primary_retain, &context, device);
  opened.push_back(new Gpu(*cuda, device, context, std::move(info)));
  return opened.back();
}

Result<Gpu*> Gpu::of_context(CUcontext context) {
  TW_ASSIGN(const Driver* cuda, device::driver());
  CUdevice device = 0;
  {
    ContextScope scope(*cuda, context);
    if (scope.result() != 0) return cuda_error(*cuda, "context_push", scope.result());
    TW_CUDA(*cuda, context_device, &device);
  }
  TW_ASSIGN(int count, count_devices(*cuda));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice candidate = 0;
    TW_CUDA(*cuda, device_get, &candidate, ordinal);
    if (candidate == device) return open(ordinal);
  }
  return no_device("the stream's context belongs to a device that the driver does not show");
}

ContextScope::ContextScope(const Driver& driver, CUcontext context) : driver_(driver) {
  CUcontext current = nullptr;
  driver.context_current(&current);
  if (current == context) return;
  result_ = driver.context_push(context);
  pushed_ = result_ == 0;
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  if (pushed_) driver_.context_pop(&popped);
}

// Makes the context of a Gpu current until the end of the calling function.
#define TW_WITH_CONTEXT(gpu)                           \
  ContextScope scope((gpu).driver(), (gpu).context()); \
  if (scope.result() != 0) return cuda_error((gpu).driver(), "context_push", scope.result())

bool Gpu::can_access(uint64_t address) const {
  constexpr int kMemoryType = 2, kInvalidValue = 1;  // attribute; the answer for unknown addresses
  ContextScope scope(*driver_, context_);
  unsigned type = 0;
  if (scope.result() != 0 || address == 0) return true;  // the launch will say what is wrong
  return driver_->pointer_attribute(&type, kMemoryType, address) != kInvalidValue ||
         attribute(*driver_, device_, kPageableMemoryAccess) != 0;
}

Result<uint64_t> Gpu::allocate(size_t bytes) const {
  TW_WITH_CONTEXT(*this);
  CUdeviceptr address = 0;
  CUresult result = driver_->memory_alloc(&address, bytes ? bytes : 1);
  if (result == 0) return address;
  ErrorInfo error = cuda_error(*driver_, "memory_alloc", result);
  size_t free = 0, total = 0;
  if (error.kind == DiagKind::kOutOfMemory && driver_->memory_info(&free, &total) == 0)
    error.message = fmt::format("{} bytes do not fit on {}: {} of {} bytes are free", bytes,
                                info_.name, free, total);
  return error;
}

void Gpu::free(uint64_t address) const {
  ContextScope scope(*driver_, context_);
  if (scope.result() == 0 && address != 0) driver_->memory_free(address);
}

Status Gpu::upload(uint64_t to, const void* from, size_t bytes, CUstream stream) const {
  TW_WITH_CONTEXT(*this);
  TW_CUDA(*driver_, copy_to_device, to, from, bytes, stream);
  return {};
}

Status Gpu::download(void* to, uint64_t from, size_t bytes, CUstream stream) const {
  TW_WITH_CONTEXT(*this);
  TW_CUDA(*driver_, copy_to_host, to, from, bytes, stream);
  return {};
}

Status Gpu::copy(uint64_t to, uint64_t from, size_t bytes, CUstream stream) const {
  TW_WITH_CONTEXT(*this);
  TW_CUDA(*driver_, copy_on_device, to, from, bytes, stream);
  return {};
}

Status Gpu::fill(uint64_t to, uint8_t byte, size_t bytes, CUstream stream) const {
  TW_WITH_CONTEXT(*this);
  TW_CUDA(*driver_, fill_bytes, to, byte, bytes, stream);
  return {};
}

Status Gpu::synchronize(CUstream stream) const {
  TW_WITH_CONTEXT(*this);
  if (stream) {
    TW_CUDA(*driver_, stream_synchronize, stream);
  } else {
    TW_CUDA(*driver_, context_synchronize);
  }
  return {};
}

}  // namespace tilewright::device
