// Naming and choosing the device that kernels run on.
#include <fmt/format.h>

#include <charconv>
#include <thread>

#include "runtime/compile/kernel.h"

namespace tilewright::runtime {
namespace {

std::optional<int> parse_ordinal(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<Device> Device::cuda(int ordinal) {
  TW_ASSIGN(device::Gpu * gpu, device::Gpu::open(ordinal));
  const device::DeviceInfo& info = gpu->info();
  const Target* target = target_for_device(info.major, info.minor);
  if (!target)
    return make_error(DiagKind::kNoDevice,
                      fmt::format("{} has compute capability {}.{}, for which there is no target",
                                  info.name, info.major, info.minor),
                      "use the device `cpu`");
  Device device;
  device.platform_ = {Backend::kCuda, target};
  device.gpu_ = gpu;
  return device;
}

Result<Device> Device::open(std::string_view name) {
  if (name == "auto" || name.empty()) {
    if (auto device = cuda(0)) return device;
    return open(cpu::available() ? "cpu" : "interp");
  }
  if (name == "cuda") return cuda(0);
  if (name.starts_with("cuda:")) {
    std::optional<int> ordinal = parse_ordinal(name.substr(5));
    if (ordinal) return cuda(*ordinal);
  }
  if (name == "cpu" && !cpu::available())
    return make_error(DiagKind::kNoLlvm, "this build of tilewright has no CPU backend",
                      "use the device `interp`, or build with LLVM");
  bool host =
      name == "cpu" || name == "interp" || name == "emulated" || name.starts_with("emulated:");
  if (!host)
    return make_error(DiagKind::kNoDevice, fmt::format("there is no device `{}`", name),
                      "the devices are auto, cuda, cuda:N, cpu, emulated, emulated:sm_…, interp");
  Device device;
  TW_ASSIGN(device.platform_, parse_platform(name));
  return device;
}

std::string Device::description() const {
  if (gpu_)
    return fmt::format("cuda:{} ({}, {})", gpu_->info().ordinal, gpu_->info().name,
                       platform_.target->name);
  if (platform_.backend == Backend::kCpu)
    return fmt::format("cpu ({}, {} threads)", cpu::target_description(),
                       std::thread::hardware_concurrency());
  return platform_.name();
}

}  // namespace tilewright::runtime
