// The two preludes, put together from the texts in prelude/ (embedded by CMake). Each part keeps
// its own name and line numbers in messages.
#include <string>
#include <string_view>

#include "codegen/cuda/cuda.h"

namespace tilewright::embedded {
extern const std::string_view prelude_types, prelude_device, prelude_common, prelude_host_abi,
    prelude_host;
}

namespace tilewright::cuda {
namespace {

struct Part {
  const char* name;
  std::string_view text;
};

std::string join(std::initializer_list<Part> parts) {
  constexpr std::string_view kOnce = "#pragma once\n";  // means nothing in a main file
  std::string out;
  for (const Part& part : parts) {
    out += "#line 1 \"" + std::string(part.name) + "\"\n";
    size_t once = part.text.find(kOnce);
    if (once == part.text.npos) {
      out += part.text;
    } else {
      out += part.text.substr(0, once);
      out += '\n';
      out += part.text.substr(once + kOnce.size());
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string_view device_prelude() {
  static const std::string text = join({{"types.cuh", embedded::prelude_types},
                                        {"device.cuh", embedded::prelude_device},
                                        {"common.cuh", embedded::prelude_common}});
  return text;
}

std::string_view host_prelude() {
  static const std::string text = join({{"types.cuh", embedded::prelude_types},
                                        {"host_abi.h", embedded::prelude_host_abi},
                                        {"host.h", embedded::prelude_host},
                                        {"common.cuh", embedded::prelude_common}});
  return text;
}

}  // namespace tilewright::cuda
