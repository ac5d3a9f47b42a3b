// Tokens of Python text. The whole file is cut into tokens at once, host code included, because
// brackets, strings and indentation decide where a skipped statement ends. What is wrong with the
// text is kept beside the tokens; the parser reports it only for text that it reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/diagnostic.h"
#include "dsl/base/source.h"

namespace tilewright::dsl {

enum class Token : uint8_t {
#define TW_TOKEN(enumerator, name) enumerator,
#define TW_KEYWORD(enumerator, text) enumerator##Keyword,
#define TW_PUNCT(enumerator, text) enumerator,
#include "dsl/token.def"
#undef TW_TOKEN
#undef TW_KEYWORD
#undef TW_PUNCT
};

// How messages name a token: 'def', '+=', name, end of line.
std::string token_text(Token token);
bool is_keyword(Token token);

struct TokenInfo {
  Token kind{};
  bool first_on_line = false;  // of its physical line; `column` is valid then
  uint16_t depth = 0;          // open brackets before it
  uint32_t column = 0;         // kIndent, kDedent: of the new block; tabs go to multiples of 8
  uint32_t begin = 0, end = 0;
  uint32_t error = 0;  // kError: index into Lexer::errors()
};

struct LexError {
  DiagKind kind;
  Span span;
  std::string message;
  // Makes the structure of all that follows doubtful, so it counts in skipped text too.
  bool is_global = false;
};

class Lexer {
 public:
  // `text` must outlive the lexer and be shorter than 2^31 bytes.
  Lexer(std::string_view text, uint16_t file);
  // Lexes `text[begin, end)` as one logical line (the inside of an f-string's braces).
  Lexer(std::string_view text, uint16_t file, uint32_t begin, uint32_t end);

  // Ends with kEnd; before it every line has its kNewline and every indent its kDedent.
  const std::vector<TokenInfo>& tokens() const { return tokens_; }
  const std::vector<LexError>& errors() const { return errors_; }

  // Ends the statement before token `index` (the first of its line, inside brackets that were
  // never closed) and lexes again from there outside of any bracket.
  void restart_at(size_t index);

 private:
  struct Bracket {
    char open;
    uint32_t position;
  };

  void run();
  void lex_line_start();
  void lex_token();
  void lex_name();
  void lex_number();
  void lex_string(uint32_t prefix_begin);
  void lex_punctuation();
  void close_bracket(char close);
  void leave_open_brackets();
  void set_indent(uint32_t column, uint32_t narrow_column);
  void close_block(uint32_t at);
  void report_open_bracket();
  void finish();
  TokenInfo& push(Token kind, uint32_t begin, uint32_t end);
  void push_error(DiagKind kind, uint32_t begin, uint32_t end, std::string message,
                  bool is_global = false);
  bool at_end() const { return position_ >= end_; }
  char peek(uint32_t ahead = 0) const {
    return position_ + ahead < end_ ? text_[position_ + ahead] : '\0';
  }
  bool starts_with(std::string_view prefix) const {
    return text_.substr(position_, end_ - position_).starts_with(prefix);
  }

  std::string_view text_;
  uint16_t file_;
  uint32_t position_ = 0, end_;
  bool single_line_ = false;
  bool line_start_ = true;           // at the start of a logical line
  bool physical_line_start_ = true;  // no token yet on this physical line
  uint32_t line_column_ = 0;
  std::vector<Bracket> brackets_;
  struct Indent {
    uint32_t column, narrow_column;  // with tabs as 8 and as 1: both must agree (Python's rule)
  };
  std::vector<Indent> indents_{{0, 0}};
  uint32_t tolerated_column_ = UINT32_MAX;  // of a line whose indentation was reported
  std::vector<TokenInfo> tokens_;
  std::vector<LexError> errors_;
};

}  // namespace tilewright::dsl
