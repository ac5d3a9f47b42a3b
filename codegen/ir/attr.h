// Attributes of ops: compile-time parameters, by key. An op has few, so a sorted vector serves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::ir {

// Integer, float, word (one of the spellings the op table allows, or free text), list of integers.
using AttrValue = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string, AttrValue>> entries) {
    for (auto& [key, value] : entries) set(key, value);
  }

  const AttrValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  void set(std::string_view key, AttrValue value);  // replaces an existing entry
  void erase(std::string_view key);
  // The attribute as the asked type, or the default when absent. A wrong type is an internal error.
  int64_t get_int(std::string_view key, int64_t otherwise = 0) const;
  double get_float(std::string_view key, double otherwise = 0) const;
  std::string_view get_word(std::string_view key, std::string_view otherwise = "") const;
  std::vector<int64_t> get_list(std::string_view key) const;

  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::vector<std::pair<std::string, AttrValue>> entries_;  // sorted by key
};

}  // namespace tilewright::ir
