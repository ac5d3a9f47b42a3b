// The inside of literals: where strings and the fields of f-strings end, escapes, numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::dsl {

// The position after the string literal whose opening quote is at `quote`, or npos if it is never
// closed. A replacement field of an f-string may hold the same quotes again (Python 3.12).
size_t find_string_end(std::string_view text, size_t quote, bool is_format, int depth = 0);

// A replacement field `{expression[=][!conversion][:format]}`.
struct FormatField {
  size_t expression_end;  // of the ':' of a format, else of the closing brace
  size_t close;           // of the closing brace
};
// The field whose text starts at `begin`, after the opening brace.
std::optional<FormatField> find_format_field(std::string_view text, size_t begin, int depth = 0);

// The parts of a string literal's text.
struct StringParts {
  size_t body_begin = 0, body_end = 0;
  bool is_raw = false, is_bytes = false, is_format = false;
};
StringParts split_string(std::string_view literal);

// What is wrong inside a literal, and where (offsets into the given text).
struct LiteralError {
  size_t begin = 0, end = 0;
  std::string message;
};

// Appends the meaning of `body` (the text between the quotes) to `out`; unknown escapes keep their
// backslash, as in Python.
std::optional<LiteralError> decode_string(std::string_view body, bool is_raw, std::string& out);

struct Number {
  enum class Kind : uint8_t { kInt, kFloat, kImaginary, kTooLarge, kBad };
  Kind kind = Kind::kBad;
  uint64_t int_bits = 0;
  double number = 0;
};
Number parse_number(std::string_view text);

}  // namespace tilewright::dsl
