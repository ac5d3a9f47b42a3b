#include "dsl/literals.h"

#include <charconv>
#include <limits>

#include "dsl/chars.h"

namespace tilewright::dsl {
namespace {

constexpr int kMaxFormatDepth = 12;
// Longer fields do not occur; the bound keeps broken text from being scanned again and again.
constexpr size_t kMaxFieldLength = 1 << 15;

bool has_format_prefix(std::string_view text, size_t quote) {
  for (size_t i = quote, n = 0; i > 0 && n < 2; --i, ++n) {
    char c = to_lower(text[i - 1]);
    if (c == 'f') return i < 2 || !is_name_char(text[i - 2]) || to_lower(text[i - 2]) == 'r';
    if (c != 'r') break;
  }
  return false;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

char simple_escape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      return '\0';
  }
}

// `\x41`, `\u0041`, `\U00000041` at `i` (the letter); moves `i` past it.
std::optional<LiteralError> decode_hex_escape(std::string_view body, size_t& i, std::string& out) {
  size_t begin = i - 1;
  size_t count = body[i] == 'x' ? 2 : body[i] == 'u' ? 4 : 8;
  size_t digits = 0;
  uint64_t code = 0;
  for (++i; digits < count && i < body.size() && is_hex_digit(body[i]); ++i, ++digits) {
    char c = to_lower(body[i]);
    code = code * 16 + static_cast<uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  if (digits < count)
    return LiteralError{begin, i, "this escape needs " + std::to_string(count) + " hex digits"};
  if (code > 0x10ffff) return LiteralError{begin, i, "no character has this code"};
  append_utf8(out, static_cast<uint32_t>(code));
  return std::nullopt;
}

}  // namespace

std::optional<FormatField> find_format_field(std::string_view text, size_t begin, int depth) {
  if (depth > kMaxFormatDepth) return std::nullopt;
  text = text.substr(0, std::min(text.size(), begin + kMaxFieldLength));
  int brackets = 0;
  size_t i = begin;
  while (i < text.size()) {
    char c = text[i];
    if (c == '"' || c == '\'') {
      i = find_string_end(text, i, has_format_prefix(text, i), depth + 1);
      if (i == text.npos) return std::nullopt;
      continue;
    }
    if (c == '#') return std::nullopt;
    if (c == '(' || c == '[' || c == '{') ++brackets;
    if (brackets == 0 && c == '}') return FormatField{i, i};
    if (brackets == 0 && c == ':') break;
    if (c == ')' || c == ']' || c == '}')
      if (--brackets < 0) return std::nullopt;
    ++i;
  }
  FormatField field{i, 0};
  for (++i; i < text.size(); ++i) {  // the format: text with fields
    if (text[i] == '\n') return std::nullopt;
    if (text[i] == '}') {
      field.close = i;
      return field;
    }
    if (text[i] != '{') continue;
    auto inner = find_format_field(text, i + 1, depth + 1);
    if (!inner) return std::nullopt;
    i = inner->close;
  }
  return std::nullopt;
}

size_t find_string_end(std::string_view text, size_t quote, bool is_format, int depth) {
  if (depth > kMaxFormatDepth) return text.npos;
  char mark = text[quote];
  bool triple = quote + 2 < text.size() && text[quote + 1] == mark && text[quote + 2] == mark;
  size_t i = quote + (triple ? 3 : 1);
  while (i < text.size()) {
    char c = text[i];
    if (c == '\\') {
      if (is_format && text.substr(i + 1).starts_with("N{")) {
        i = text.find('}', i);
        if (i == text.npos) return text.npos;
        ++i;
      } else if (is_format && i + 1 < text.size() && text[i + 1] == '{') {
        ++i;  // The backslash escapes no brace.
      } else {
        i += text.substr(i + 1).starts_with("\r\n") ? 3 : 2;
      }
      continue;
    }
    if (c == mark && !triple) return i + 1;
    if (c == mark && i + 2 < text.size() && text[i + 1] == mark && text[i + 2] == mark)
      return i + 3;
    if (!triple && (c == '\n' || c == '\r')) return text.npos;
    if (is_format && c == '{') {
      if (text.substr(i + 1).starts_with('{')) {
        i += 2;
        continue;
      }
      auto field = find_format_field(text, i + 1, depth + 1);
      if (!field) return text.npos;
      i = field->close;
    }
    ++i;
  }
  return text.npos;
}

StringParts split_string(std::string_view literal) {
  StringParts parts;
  size_t i = 0;
  for (; literal[i] != '"' && literal[i] != '\''; ++i) {
    parts.is_raw |= to_lower(literal[i]) == 'r';
    parts.is_bytes |= to_lower(literal[i]) == 'b';
    parts.is_format |= to_lower(literal[i]) == 'f';
  }
  bool triple =
      literal.size() >= i + 6 && literal[i + 1] == literal[i] && literal[i + 2] == literal[i];
  parts.body_begin = i + (triple ? 3 : 1);
  parts.body_end = literal.size() - (triple ? 3 : 1);
  return parts;
}

std::optional<LiteralError> decode_string(std::string_view body, bool is_raw, std::string& out) {
  for (size_t i = 0; i < body.size();) {
    if (body[i] == '\r') {  // Python reads every line break as \n.
      out += '\n';
      i += body.substr(i + 1).starts_with('\n') ? 2 : 1;
      continue;
    }
    if (body[i] != '\\' || is_raw || i + 1 == body.size()) {
      out += body[i++];
      continue;
    }
    char c = body[++i];
    if (c == '\n' || c == '\r') {
      i += c == '\r' && body.substr(i + 1).starts_with('\n') ? 2 : 1;
    } else if (char simple = simple_escape(c); simple != '\0') {
      out += simple;
      ++i;
    } else if (c >= '0' && c <= '7') {
      uint32_t code = 0;
      for (int n = 0; n < 3 && i < body.size() && body[i] >= '0' && body[i] <= '7'; ++n, ++i)
        code = code * 8 + static_cast<uint32_t>(body[i] - '0');
      append_utf8(out, code);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      if (auto error = decode_hex_escape(body, i, out)) return error;
    } else if (c == 'N') {
      return LiteralError{i - 1, i + 1, "named characters are not supported; write the character"};
    } else {
      out += '\\';
      out += c;
      ++i;
    }
  }
  return std::nullopt;
}

Number parse_number(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += to_lower(c);
  Number number;
  int base = digits.starts_with("0x") ? 16 : digits.starts_with("0o") ? 8 : 10;
  if (digits.starts_with("0b")) base = 2;
  bool is_integer = base != 10 || digits.find_first_of(".ej") == digits.npos;
  const char* begin = digits.data() + (base == 10 ? 0 : 2);
  const char* end = digits.data() + digits.size();
  if (is_integer) {
    // 07 is no number, 00 is.
    if (base == 10 && digits[0] == '0' && digits.find_first_not_of('0') != digits.npos)
      return number;
    auto [stop, error] = std::from_chars(begin, end, number.int_bits, base);
    if (error == std::errc::result_out_of_range)
      number.kind = Number::Kind::kTooLarge;
    else if (error == std::errc() && stop == end)
      number.kind = Number::Kind::kInt;
    return number;
  }
  number.kind = digits.back() == 'j' ? Number::Kind::kImaginary : Number::Kind::kFloat;
  if (digits.back() == 'j') --end;
  auto [stop, error] = std::from_chars(begin, end, number.number);
  if (error == std::errc::result_out_of_range) {
    // Rounds as Python does: to zero when too small, else to infinity.
    bool small = digits.find("e-") != digits.npos || digits[0] == '0' || digits[0] == '.';
    number.number = small ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc() || stop != end) {
    number.kind = Number::Kind::kBad;
  }
  return number;
}

}  // namespace tilewright::dsl
