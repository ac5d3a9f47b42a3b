// Content hashes: 128 bits, of fields rather than of text, so that ("ab", "c") and ("a", "bc")
// differ. Collisions between honest inputs are out of question; it is no defence against forgery.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tilewright::cache {

struct Hash128 {
  uint64_t high = 0, low = 0;
  std::string hex() const;  // 32 lower-case digits
  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher& add(std::string_view field);
  Hasher& add(int64_t field);
  Hash128 finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash128 hash_of(std::string_view bytes);

}  // namespace tilewright::cache
