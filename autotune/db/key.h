// The printable keys of the tuning database. One function makes each, so that equal things have
// equal text in every process and version.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::autotune {

struct Key {
  std::string kernel;
  std::string problem;
  std::string device;
  std::string compiler;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// name@ followed by 16 hex digits of the content hash (XXH3-64) of `syntax`, the kernel's printed
// syntax tree.
std::string kernel_key(std::string_view name, std::string_view syntax);
// Dtypes in parameter order, then the integers of the autotune key, each bucketed, by name.
std::string problem_key(const std::vector<std::string>& dtypes,
                        const std::map<std::string, int64_t>& shape);
// Rounds up within 12.5 %: exact to 128, then 8 steps an octave. Rows of neighbouring sizes are
// shared.
int64_t bucket(int64_t extent);
// Constants by name, then launch options: "BLOCK=64,GROUP=8;warps=4,stages=3".
std::string config_key(const std::map<std::string, std::string>& constants, int num_warps,
                       int num_stages, int maxnreg = 0);

}  // namespace tilewright::autotune
