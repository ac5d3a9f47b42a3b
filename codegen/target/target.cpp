#include "codegen/target/target.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string>

#include "dsl/base/check.h"

namespace tilewright {
namespace {

constexpr Target kTargets[] = {
#define TW_TARGET(...) Target{__VA_ARGS__},
#define TW_CARD(...)
#include "codegen/target/targets.def"
#undef TW_TARGET
#undef TW_CARD
};

constexpr Card kCards[] = {
#define TW_TARGET(...)
#define TW_CARD(...) Card{__VA_ARGS__},
#include "codegen/target/targets.def"
#undef TW_TARGET
#undef TW_CARD
};

// What names have in common once the vendor's spelling is taken off: "rtx4090".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view prefix : {"nvidia", "geforce"})
    if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  return plain;
}

// Tegra chips share a major number with desktop chips, but not their binaries (Programming Guide,
// "Binary Compatibility").
bool is_tegra(int sm) {
  return sm == 72 || sm == 87 || sm == 101;
}

}  // namespace

std::span<const Target> all_targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  if (name.starts_with("sm_")) name.remove_prefix(3);
  int sm = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sm);
  if (error != std::errc()) return nullptr;
  std::string_view suffix(end, name.data() + name.size() - end);
  for (const Target& target : kTargets) {
    if (target.sm != sm) continue;
    // A suffix is accepted where the target is compiled under it, so that "sm_90a" is sm_90 but
    // "sm_80a", which does not exist, is unknown.
    std::string_view own = target.nvrtc.substr(target.name.size());
    bool known = suffix.empty() || suffix == own || (own == "f" && suffix == "a");
    return known ? &target : nullptr;
  }
  return nullptr;
}

const Target* target_for_device(int major, int minor) {
  int sm = major * 10 + minor;
  if (minor < 0 || minor > 9 || is_tegra(sm)) return nullptr;
  const Target* best = nullptr;
  for (const Target& target : kTargets) {
    if (target.sm / 10 != major || target.sm > sm) continue;
    bool only_this_chip = target.nvrtc.ends_with('a');
    if (only_this_chip && target.sm != sm) continue;
    if (best == nullptr || target.sm > best->sm) best = &target;
  }
  return best;
}

std::span<const Card> all_cards() {
  return kCards;
}

const Card* find_card(std::string_view name) {
  std::string wanted = plain_name(name);
  for (const Card& card : kCards)
    if (plain_name(card.name) == wanted) return &card;
  return nullptr;
}

const Card& reference_card(const Target& target) {
  for (const Card& card : kCards)
    if (card.target == target.name) return card;
  TW_UNREACHABLE("a target without a card");
}

}  // namespace tilewright
