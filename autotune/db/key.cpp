#include "autotune/db/key.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tilewright::autotune {

std::string kernel_key(std::string_view name, std::string_view syntax) {
  return fmt::format("{}@{:016x}", name, XXH3_64bits(syntax.data(), syntax.size()));
}

int64_t bucket(int64_t extent) {
  if (extent <= 128) return extent;
  int64_t step = 16;  // an eighth of the octave that starts at 128
  while (extent > 16 * step) step *= 2;
  return (extent + step - 1) / step * step;
}

std::string problem_key(const std::vector<std::string>& dtypes,
                        const std::map<std::string, int64_t>& shape) {
  std::string out;
  for (const std::string& dtype : dtypes) out += (out.empty() ? "" : ",") + dtype;
  out += ';';
  bool first = true;
  for (auto& [name, extent] : shape) {
    out += fmt::format("{}{}={}", first ? "" : ",", name, bucket(extent));
    first = false;
  }
  return out;
}

std::string config_key(const std::map<std::string, std::string>& constants, int num_warps,
                       int num_stages, int maxnreg) {
  std::string out;
  for (auto& [name, value] : constants)
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  out += fmt::format(";warps={},stages={}", num_warps, num_stages);
  return maxnreg > 0 ? out + fmt::format(",maxnreg={}", maxnreg) : out;
}

}  // namespace tilewright::autotune
