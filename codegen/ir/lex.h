// Tokens of the IR's text form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/diagnostic.h"

namespace tilewright::ir {

enum class TokenKind : uint8_t {
  kEnd,
  kValue,   // %name; text is the name
  kSymbol,  // @name; text is the name
  kWord,    // letters, digits, _ . and <> after a letter: mnemonics, keys, types
  kInt,     // integer
  kFloat,   // number
  kString,  // text, escapes resolved
  kPunct,   // one of ( ) { } [ ] , : =
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Span span;
  std::string text;
  int64_t integer = 0;
  double number = 0;
  bool starts_line = false;

  bool is(char punct) const { return kind == TokenKind::kPunct && text[0] == punct; }
  bool is_word(std::string_view word) const { return kind == TokenKind::kWord && text == word; }
};

// Always ends with a kEnd token. Bad characters and literals are reported and left out.
std::vector<Token> lex(std::string_view text, uint16_t file, DiagSink& sink);

// What an error message calls a token.
std::string describe(const Token& token);

}  // namespace tilewright::ir
