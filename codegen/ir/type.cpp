#include "codegen/ir/type.h"

#include <charconv>

namespace tilewright::ir {
namespace {

// Takes `prefix` off the front of `text` if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// f32 or ptr<f32>; only the IR's own dtype names, so that every type has one spelling.
std::optional<Type> parse_element(std::string_view text) {
  bool is_pointer = take(text, "ptr<");
  if (is_pointer) {
    if (!text.ends_with('>')) return std::nullopt;
    text.remove_suffix(1);
  }
  auto dtype = parse_dtype(text);
  if (!dtype || dtype_name(*dtype) != text) return std::nullopt;
  return Type{*dtype, is_pointer, {}};
}

}  // namespace

std::string to_string(const Type& type) {
  std::string element(dtype_name(type.dtype));
  if (type.is_pointer) element = "ptr<" + element + ">";
  if (type.is_scalar()) return element;
  std::string out = type.is_shared ? "shared<" : "tile<";
  for (int64_t extent : type.shape) out += std::to_string(extent) + "x";
  return out + element + ">";
}

std::optional<Type> parse_type(std::string_view text) {
  bool is_shared = take(text, "shared<");
  if (!is_shared && !take(text, "tile<")) return parse_element(text);
  if (!text.ends_with('>')) return std::nullopt;
  text.remove_suffix(1);
  Shape shape;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    int64_t extent = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || (text[0] == '0' && end != text.data() + 1)) return std::nullopt;
    text.remove_prefix(end - text.data());
    if (!take(text, "x")) return std::nullopt;
    shape.push_back(extent);
  }
  auto element = parse_element(text);
  if (!element || shape.empty()) return std::nullopt;
  Type type = element->with_shape(std::move(shape));
  type.is_shared = is_shared;
  return type;
}

}  // namespace tilewright::ir
