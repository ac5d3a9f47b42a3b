// Running small kernel texts under the emulator, for the tests.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {

struct Emulation {
  int threads = 32;
  int shared_bytes = 0;
  int sm = 90;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  EmulatorOptions options = {};

  static uint64_t slot(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
  template <class T>
  requires std::is_arithmetic_v<T>
  static uint64_t slot(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }

  // Runs `TW_KERNEL(threads) void k(parameters) { body }`; only the number of arguments matters.
  template <class... Arguments>
  Status run(const std::string& parameters, const std::string& body, Arguments... arguments) const {
    Source source;
    source.entry = "k";
    source.text = "TW_KERNEL(" + std::to_string(threads) + ") void k(" + parameters + ") {\n" +
                  body + "\n}\n";
    source.threads = threads;
    source.shared_bytes = shared_bytes;
    source.sm = sm;
    source.params.resize(sizeof...(Arguments));
    Result<std::shared_ptr<EmulatedKernel>> kernel = emulate(source);
    if (!kernel.ok()) return kernel.error();
    std::vector<uint64_t> slots = {slot(arguments)...};
    Launch launch;
    launch.grid = grid;
    launch.arguments = slots;
    return (*kernel)->run(launch, options);
  }
};

// "" if it went well, else the error as the user sees it.
inline std::string text_of(const Status& status) {
  return status.ok() ? std::string() : status.error().text();
}

}  // namespace tilewright::cuda
