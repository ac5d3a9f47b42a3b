#include "codegen/ir/lex.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace tilewright::ir {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}

class Lexer {
 public:
  Lexer(std::string_view text, uint16_t file, DiagSink& sink)
      : text_(text), file_(file), sink_(sink) {}

  std::vector<Token> run() {
    while (skip_space(), at_ < text_.size()) scan();
    begin_ = at_;
    push(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Span span() const { return {static_cast<uint32_t>(begin_), static_cast<uint32_t>(at_), file_}; }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        starts_line_ = true;
      } else if (text_[at_] == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\r') {
        break;
      }
    }
  }

  Token& push(TokenKind kind) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.span = span();
    token.starts_line = starts_line_;
    starts_line_ = false;
    return token;
  }

  void error(std::string message) {
    sink_.error(DiagKind::kIrSyntax, span(), std::move(message));
    starts_line_ = false;
  }

  std::string_view take_name() {
    size_t start = at_;
    while (is_name(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  void scan() {
    begin_ = at_;
    char c = peek();
    if (c == '%' || c == '@') {
      ++at_;
      std::string_view name = take_name();
      if (name.empty()) return error(std::string("a name must follow '") + c + "'");
      push(c == '%' ? TokenKind::kValue : TokenKind::kSymbol).text = name;
    } else if (is_digit(c) || c == '-' || starts_float_word()) {
      scan_number();
    } else if (is_letter(c)) {
      scan_word();
    } else if (c == '"') {
      scan_string();
    } else if (std::string_view("(){}[],:=").find(c) != std::string_view::npos) {
      ++at_;
      push(TokenKind::kPunct).text = c;
    } else {
      // A whole UTF-8 sequence is one bad character.
      do ++at_;
      while ((static_cast<unsigned char>(peek()) & 0xc0) == 0x80);
      error("unexpected character");
    }
  }

  bool starts_float_word() const {
    std::string_view rest = text_.substr(at_);
    // `nan` is also the key of an attribute.
    return (rest.starts_with("inf") || rest.starts_with("nan")) && !is_name(peek(3)) &&
           peek(3) != '=';
  }

  // A word; a type such as tile<16xptr<f32>> is one word.
  void scan_word() {
    take_name();
    int depth = 0;
    while (peek() == '<' || (depth > 0 && (is_name(peek()) || peek() == '>'))) {
      depth += peek() == '<' ? 1 : peek() == '>' ? -1 : 0;
      ++at_;
    }
    push(TokenKind::kWord).text = text_.substr(begin_, at_ - begin_);
  }

  void scan_number() {
    bool negative = peek() == '-';
    if (negative) ++at_;
    if (starts_float_word()) return scan_float_word(negative);
    while (is_name(peek()) || ((peek() == '+' || peek() == '-') && (text_[at_ - 1] | 32) == 'e'))
      ++at_;
    std::string_view digits = text_.substr(begin_, at_ - begin_);
    const char* end = digits.data() + digits.size();
    int64_t integer = 0;
    auto as_int = std::from_chars(digits.data(), end, integer);
    if (as_int.ptr == end && as_int.ec == std::errc()) {
      push(TokenKind::kInt).integer = integer;
      return;
    }
    if (as_int.ptr == end && as_int.ec == std::errc::result_out_of_range)
      return error("the integer does not fit 64 bits");
    double number = 0;
    auto as_float = std::from_chars(digits.data(), end, number);
    if (as_float.ptr != end || as_float.ec != std::errc()) return error("malformed number");
    push(TokenKind::kFloat).number = number;
  }

  void scan_float_word(bool negative) {
    bool is_inf = peek() == 'i';
    at_ += 3;
    double value =
        is_inf ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (negative) value = -value;
    if (!is_inf && !negative && peek() == '(') {
      size_t close = text_.find(')', at_);
      std::string_view bits = text_.substr(at_, close == text_.npos ? close : close - at_);
      uint64_t pattern = 0;
      bool good = bits.starts_with("(0x");
      if (good) {
        auto [end, code] = std::from_chars(bits.data() + 3, bits.data() + bits.size(), pattern, 16);
        good = code == std::errc() && end == bits.data() + bits.size() && close != text_.npos;
      }
      value = std::bit_cast<double>(pattern);
      if (good) at_ = close + 1;
      if (!good || !std::isnan(value)) return error("malformed NaN pattern");
    }
    push(TokenKind::kFloat).number = value;
  }

  void scan_string() {
    std::string out;
    ++at_;
    while (peek() != '"') {
      char c = peek();
      if (at_ >= text_.size() || c == '\n') return error("the string has no closing quote");
      ++at_;
      if (c != '\\') {
        out += c;
      } else if (!scan_escape(out)) {
        return error("unknown escape in a string");
      }
    }
    ++at_;
    push(TokenKind::kString).text = std::move(out);
  }

  bool scan_escape(std::string& out) {
    char c = peek();
    ++at_;
    if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'n' || c == 't') {
      out += c == 'n' ? '\n' : '\t';
    } else if (c == 'x') {
      unsigned byte = 0;
      std::string_view hex = text_.substr(std::min(at_, text_.size()), 2);
      auto [end, code] = std::from_chars(hex.data(), hex.data() + hex.size(), byte, 16);
      if (code != std::errc() || end != hex.data() + 2) return false;
      out += static_cast<char>(byte);
      at_ += 2;
    } else {
      return false;
    }
    return true;
  }

  std::string_view text_;
  uint16_t file_;
  DiagSink& sink_;
  std::vector<Token> tokens_;
  size_t at_ = 0, begin_ = 0;
  bool starts_line_ = true;
};

}  // namespace

std::vector<Token> lex(std::string_view text, uint16_t file, DiagSink& sink) {
  return Lexer(text, file, sink).run();
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kValue:
      return "'%" + token.text + "'";
    case TokenKind::kSymbol:
      return "'@" + token.text + "'";
    case TokenKind::kWord:
    case TokenKind::kPunct:
      return "'" + token.text + "'";
    case TokenKind::kInt:
    case TokenKind::kFloat:
      return "a number";
    case TokenKind::kString:
      return "a string";
  }
  return "a token";
}

}  // namespace tilewright::ir
