// What random loops read and write: small numbers, so that all sums are exact.
#pragma once

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "dsl/base/numeric.h"
#include "tests/unit/schedule/random_loop.h"

namespace tilewright::schedule {

struct Memory {
  explicit Memory(uint64_t seed) {
    std::mt19937_64 random(seed);
    auto below = [&](int bound) {
      return static_cast<int>(random() % static_cast<unsigned>(bound));
    };
    for (auto* buffer : {&a, &b})
      for (int i = 0; i < kBufferElements; ++i)
        buffer->push_back(static_cast<uint16_t>(float_to_bits(below(9) - 4, Dtype::kF16)));
    for (int i = 0; i < kBufferElements; ++i) {
      w.push_back(static_cast<int8_t>(below(7) - 3));
      idx.push_back(below(kIterations));
      s.push_back(static_cast<float>(below(9) - 4) / 2);
    }
    log.assign(kBufferElements, -1);
    out.assign(kBufferElements, -1);
  }
  std::vector<uint64_t> arguments(const RandomLoop& loop) {
    auto address = [](auto& buffer) { return reinterpret_cast<uint64_t>(buffer.data()); };
    auto bits = [](int64_t value) { return static_cast<uint64_t>(value); };
    return {address(a),   address(b),    address(w),    address(idx),    address(s),  address(log),
            address(out), bits(loop.lo), bits(loop.hi), bits(loop.step), bits(loop.n)};
  }
  // Addresses relative to the buffers, so that runs on copies can be compared.
  std::vector<std::pair<uint64_t, size_t>> ranges() {
    auto range = [](auto& buffer) {
      return std::pair(reinterpret_cast<uint64_t>(buffer.data()),
                       buffer.size() * sizeof(buffer[0]));
    };
    return {range(a), range(b), range(w), range(idx), range(s), range(log), range(out)};
  }
  bool same_results(const Memory& other) const {
    auto same = [](const auto& x, const auto& y) {
      return std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
    };
    return same(s, other.s) && same(log, other.log) && same(out, other.out);
  }

  std::vector<uint16_t> a, b;
  std::vector<int8_t> w;
  std::vector<int32_t> idx;
  std::vector<float> s, log, out;
};

}  // namespace tilewright::schedule
