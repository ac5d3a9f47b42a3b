#include "runtime/cache/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright::cache {

struct Hasher::State {
  XXH3_state_t xxh;
};

namespace {
Hash128 from_xxh(XXH128_hash_t hash) {
  return {hash.high64, hash.low64};
}
}  // namespace

std::string Hash128::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  return text;
}

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;

Hasher& Hasher::add(std::string_view field) {
  add(static_cast<int64_t>(field.size()));
  XXH3_128bits_update(&state_->xxh, field.data(), field.size());
  return *this;
}

Hasher& Hasher::add(int64_t field) {
  XXH3_128bits_update(&state_->xxh, &field, sizeof field);
  return *this;
}

Hash128 Hasher::finish() const {
  return from_xxh(XXH3_128bits_digest(&state_->xxh));
}

Hash128 hash_of(std::string_view bytes) {
  return from_xxh(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace tilewright::cache
