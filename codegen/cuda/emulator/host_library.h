// Text of C++ to a loaded shared object, by the host's compiler, with a cache on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dsl/base/result.h"

namespace tilewright::cuda {

// How a text is optimised: enough for kernels that run for milliseconds, or not at all, for many
// kernels that hardly run.
enum class Effort : uint8_t { kQuickRun, kQuickBuild };

// A loaded shared object; unloaded when destroyed.
class HostLibrary {
 public:
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;
  // Null if there is no such symbol.
  void* find(const char* symbol) const;

 private:
  friend Result<std::shared_ptr<HostLibrary>> load_host_library(const std::string& text,
                                                                std::string_view name,
                                                                Effort effort);
  explicit HostLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// Builds `text` (once for each text and compiler, over all processes) and loads it. `name` is used
// in messages. Errors: `no-host-compiler`, `host-compile` with the compiler's log in details, `io`.
Result<std::shared_ptr<HostLibrary>> load_host_library(const std::string& text,
                                                       std::string_view name,
                                                       Effort effort = Effort::kQuickRun);

// What would be used: TILEWRIGHT_CXX, else c++, g++ or clang++ on the PATH.
Result<std::string> find_host_compiler();

}  // namespace tilewright::cuda
