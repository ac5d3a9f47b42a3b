#include "runtime/device/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "dsl/base/check.h"

namespace tilewright::device {
namespace {

constexpr CUresult kOutOfMemoryCode = 2, kNoDeviceCode = 100, kStubLibraryCode = 34;

struct Entry {
  std::string_view member;
  const char* symbol;
};
constexpr Entry kEntries[] = {
#define TW_CU(member, symbol, ...) {#member, #symbol},
#include "runtime/device/driver_functions.def"
#undef TW_CU
};

// By soname first, then where distributions and containers put the driver.
std::vector<std::string> candidates() {
  return {"libcuda.so.1",
          "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
          "/usr/lib64/libcuda.so.1",
          "/usr/local/nvidia/lib64/libcuda.so.1",
          "/usr/lib/wsl/lib/libcuda.so.1",
          "/run/opengl-driver/lib/libcuda.so.1"};
}

ErrorInfo no_driver(std::string message) {
  return make_error(DiagKind::kNoDriver, std::move(message),
                    "install the NVIDIA driver, name its library in TILEWRIGHT_CUDA_DRIVER, or use "
                    "the device `cpu`");
}

Result<Driver> find_driver() {
  const char* named = std::getenv("TILEWRIGHT_CUDA_DRIVER");
  if (named && std::string_view(named) == "none")
    return no_driver("the CUDA driver is switched off by TILEWRIGHT_CUDA_DRIVER=none");
  if (named && *named) return load_driver(named);
  std::string searched;
  for (const std::string& library : candidates()) {
    // A library that is there but does not work is the answer; only absent ones are skipped.
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) return load_driver(library);
    searched += (searched.empty() ? "" : ", ") + library;
  }
  return no_driver("no CUDA driver was found; searched " + searched);
}

}  // namespace

Result<Driver> load_driver(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return no_driver(fmt::format("the CUDA driver library {} cannot be loaded: {}", library,
                                 why ? why : "unknown reason"));
  }
  Driver driver;
  driver.library = library;
#define TW_CU(member, symbol, ...)                                                             \
  driver.member = reinterpret_cast<Driver::member##_signature*>(dlsym(handle, #symbol));       \
  if (!driver.member)                                                                          \
    return no_driver(fmt::format("the CUDA driver {} has no {}; CUDA 11.4 or later is needed", \
                                 library, #symbol));
#include "runtime/device/driver_functions.def"
#undef TW_CU
  CUresult result = driver.init(0);
  if (result == kStubLibraryCode)
    return no_driver(
        fmt::format("{} is the stub library of the CUDA toolkit, not a driver", library));
  if (result == kNoDeviceCode)
    return make_error(DiagKind::kNoDevice,
                      fmt::format("the CUDA driver {} finds no device", library),
                      "use the device `cpu`");
  if (result != 0) {
    ErrorInfo error = cuda_error(driver, "init", result);
    return no_driver(fmt::format("the CUDA driver {} does not start: {}", library, error.message));
  }
  driver.driver_version(&driver.version);
  return driver;
}

Result<const Driver*> driver() {
  // Never destroyed: kernels may be released after static destructors have run.
  static const auto* const loaded = new Result<Driver>(find_driver());
  if (!loaded->ok()) return loaded->error();
  return &loaded->value();
}

ErrorInfo cuda_error(const Driver& driver, const char* call, CUresult result) {
  TW_CHECK(result != 0, "success is not an error");
  const char *name = nullptr, *text = nullptr;
  driver.error_name(result, &name);
  driver.error_text(result, &text);
  const char* symbol = call;
  for (const Entry& entry : kEntries)
    if (entry.member == call) symbol = entry.symbol;
  DiagKind kind = result == kOutOfMemoryCode ? DiagKind::kOutOfMemory : DiagKind::kCudaError;
  return make_error(kind, fmt::format("{} failed with {} ({}): {}", symbol, name ? name : "error",
                                      result, text ? text : "no description"));
}

}  // namespace tilewright::device
