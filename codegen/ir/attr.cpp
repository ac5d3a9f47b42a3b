#include "codegen/ir/attr.h"

#include <algorithm>

#include "dsl/base/check.h"

namespace tilewright::ir {
namespace {

bool before(const std::pair<std::string, AttrValue>& entry, std::string_view key) {
  return entry.first < key;
}

// The attribute as a T, or null when absent.
template <class T>
const T* find_as(const Attrs& attrs, std::string_view key) {
  const AttrValue* value = attrs.find(key);
  if (value == nullptr) return nullptr;
  const T* typed = std::get_if<T>(value);
  TW_CHECK(typed != nullptr, "attribute '" + std::string(key) + "' has another type");
  return typed;
}

}  // namespace

const AttrValue* Attrs::find(std::string_view key) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  return it != entries_.end() && it->first == key ? &it->second : nullptr;
}

void Attrs::set(std::string_view key, AttrValue value) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  if (it != entries_.end() && it->first == key)
    it->second = std::move(value);
  else
    entries_.emplace(it, std::string(key), std::move(value));
}

void Attrs::erase(std::string_view key) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  if (it != entries_.end() && it->first == key) entries_.erase(it);
}

int64_t Attrs::get_int(std::string_view key, int64_t otherwise) const {
  const auto* value = find_as<int64_t>(*this, key);
  return value ? *value : otherwise;
}

double Attrs::get_float(std::string_view key, double otherwise) const {
  const auto* value = find_as<double>(*this, key);
  return value ? *value : otherwise;
}

std::string_view Attrs::get_word(std::string_view key, std::string_view otherwise) const {
  const auto* value = find_as<std::string>(*this, key);
  return value ? std::string_view(*value) : otherwise;
}

std::vector<int64_t> Attrs::get_list(std::string_view key) const {
  const auto* value = find_as<std::vector<int64_t>>(*this, key);
  return value ? *value : std::vector<int64_t>{};
}

}  // namespace tilewright::ir
