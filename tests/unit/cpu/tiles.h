// IR text of tiles in memory, and their contents.
#pragma once

#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {

inline std::string dims(const std::vector<int>& shape) {
  std::string out;
  for (int d : shape) out += std::to_string(d) + "x";
  return out;
}
inline int count_of(const std::vector<int>& shape) {
  int n = 1;
  for (int d : shape) n *= d;
  return n;
}
inline std::string name(Dtype dtype) {
  return std::string(dtype_name(dtype));
}

inline std::string address(const std::string& to, const std::string& base,
                           const std::vector<int>& shape, const std::string& element) {
  std::string n = std::to_string(count_of(shape)), d = dims(shape);
  return "  %" + to + "_r: tile<" + n + "xi32> = arange {start=0, end=" + n + "}\n  %" + to +
         "_s: tile<" + d + "i32> = reshape %" + to + "_r\n  %" + to + "_b: tile<" + d + "ptr<" +
         element + ">> = splat %" + base + "\n  %" + to + ": tile<" + d + "ptr<" + element +
         ">> = ptr_add %" + to + "_b, %" + to + "_s\n";
}

// Small integers: sums are exact in every type and order.
inline Array small(Dtype dtype, size_t count, uint64_t seed, int limit = 4) {
  Random random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(
        random.between(is_unsigned(dtype) ? 0 : -limit, dtype == Dtype::kI1 ? 1 : limit)));
  return Array::of(dtype, values);
}

}  // namespace tilewright::cpu
