// Character classes of Python's text, independent of the locale. Bytes of UTF-8 sequences count as
// letters: names may hold any Unicode letter, and which ones are letters does not matter here.
#pragma once

namespace tilewright::dsl {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
}
constexpr bool is_name_start(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

}  // namespace tilewright::dsl
