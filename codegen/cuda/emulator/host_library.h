// Text of C++ to a loaded shared object, by the host's compiler, with a cache on disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dsl/base/result.h"

namespace tilewright::cuda {

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
                                                                std::string_view name);
  explicit HostLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// Builds `text` (once for each text and compiler, over all processes) and loads it. `name` is used
// in messages. Errors: `no-host-compiler`, `host-compile` with the compiler's log in details, `io`.
Result<std::shared_ptr<HostLibrary>> load_host_library(const std::string& text,
                                                       std::string_view name);

// What would be used: TILEWRIGHT_CXX, else c++, g++ or clang++ on the PATH.
Result<std::string> find_host_compiler();

}  // namespace tilewright::cuda
