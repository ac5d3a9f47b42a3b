#include "dsl/lexer.h"

#include <algorithm>
#include <array>

#include "dsl/base/check.h"
#include "dsl/chars.h"
#include "dsl/literals.h"

namespace tilewright::dsl {
namespace {

struct Spelling {
  Token token;
  std::string_view text;
};

constexpr Spelling kKeywords[] = {
#define TW_TOKEN(enumerator, name)
#define TW_KEYWORD(enumerator, text) {Token::enumerator##Keyword, text},
#define TW_PUNCT(enumerator, text)
#include "dsl/token.def"
#undef TW_TOKEN
#undef TW_KEYWORD
#undef TW_PUNCT
};

constexpr Spelling kPunctuation[] = {
#define TW_TOKEN(enumerator, name)
#define TW_KEYWORD(enumerator, text)
#define TW_PUNCT(enumerator, text) {Token::enumerator, text},
#include "dsl/token.def"
#undef TW_TOKEN
#undef TW_KEYWORD
#undef TW_PUNCT
};

constexpr std::string_view kNames[] = {
#define TW_TOKEN(enumerator, name) name,
#define TW_KEYWORD(enumerator, text) text,
#define TW_PUNCT(enumerator, text) text,
#include "dsl/token.def"
#undef TW_TOKEN
#undef TW_KEYWORD
#undef TW_PUNCT
};

// Keywords that start a statement and cannot continue an expression. At the start of a line inside
// brackets they show that a bracket above was never closed.
constexpr Token kStatementOnly[] = {
    Token::kDefKeyword,      Token::kClassKeyword,   Token::kReturnKeyword, Token::kWhileKeyword,
    Token::kWithKeyword,     Token::kAssertKeyword,  Token::kRaiseKeyword,  Token::kImportKeyword,
    Token::kPassKeyword,     Token::kBreakKeyword,   Token::kTryKeyword,    Token::kExceptKeyword,
    Token::kContinueKeyword, Token::kFinallyKeyword, Token::kGlobalKeyword, Token::kDelKeyword,
    Token::kElifKeyword,     Token::kNonlocalKeyword};

// Words that may follow a number without a space (`1if x else 2`).
constexpr std::string_view kAfterNumber[] = {"and", "else", "for", "if", "in", "is", "not", "or"};

bool is_string_prefix(std::string_view word) {
  if (word.size() > 2) return false;
  int raw = 0, other = 0;
  for (char c : word) {
    char lower = to_lower(c);
    if (lower == 'r')
      ++raw;
    else if (lower == 'b' || lower == 'f' || lower == 'u')
      ++other;
    else
      return false;
  }
  return raw <= 1 && other <= 1;
}

}  // namespace

std::string token_text(Token token) {
  std::string_view name = kNames[static_cast<size_t>(token)];
  if (token <= Token::kFString) return std::string(name);
  return in_quotes(name);
}

bool is_keyword(Token token) {
  return token >= Token::kAndKeyword && token <= Token::kYieldKeyword;
}

Lexer::Lexer(std::string_view text, uint16_t file)
    : text_(text), file_(file), end_(static_cast<uint32_t>(text.size())) {
  if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;
  run();
}

Lexer::Lexer(std::string_view text, uint16_t file, uint32_t begin, uint32_t end)
    : text_(text), file_(file), position_(begin), end_(end), single_line_(true) {
  line_start_ = false;
  run();
}

void Lexer::run() {
  while (!at_end()) {
    if (line_start_)
      lex_line_start();
    else
      lex_token();
  }
  finish();
}

TokenInfo& Lexer::push(Token kind, uint32_t begin, uint32_t end) {
  TokenInfo& token = tokens_.emplace_back();
  token.kind = kind;
  token.begin = begin;
  token.end = end;
  token.depth = static_cast<uint16_t>(std::min<size_t>(brackets_.size(), UINT16_MAX));
  token.first_on_line = physical_line_start_;
  token.column = line_column_;
  if (kind != Token::kIndent && kind != Token::kDedent) physical_line_start_ = false;
  return token;
}

void Lexer::push_error(DiagKind kind, uint32_t begin, uint32_t end, std::string message,
                       bool is_global) {
  TokenInfo& token = push(Token::kError, begin, end);
  token.error = static_cast<uint32_t>(errors_.size());
  errors_.push_back({kind, {begin, end, file_}, std::move(message), is_global});
}

// Measures the indentation of a line; blank lines and comments do not count.
void Lexer::lex_line_start() {
  uint32_t column = 0, narrow_column = 0;
  for (;; ++position_) {
    char c = peek();
    if (at_end()) return;
    if (c == ' ') {
      ++column, ++narrow_column;
    } else if (c == '\t') {
      column = (column / 8 + 1) * 8;
      ++narrow_column;
    } else if (c == '\f') {
      column = narrow_column = 0;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      position_ += peek(1) == '\n' ? 1 : 2;  // Joined lines: the first one's indentation counts.
    } else {
      break;
    }
  }
  if (peek() == '#')
    while (!at_end() && peek() != '\n') ++position_;
  if (at_end()) return;
  if (peek() == '\n' || peek() == '\r') {
    ++position_;
    return;
  }
  line_start_ = false;
  physical_line_start_ = true;
  line_column_ = column;
  set_indent(column, narrow_column);
}

void Lexer::set_indent(uint32_t column, uint32_t narrow_column) {
  Indent top = indents_.back();
  if (column == top.column) {
    if (narrow_column != top.narrow_column)
      push_error(DiagKind::kBadIndent, position_, position_ + 1,
                 "tabs and spaces are mixed so that this line's block depends on the tab width");
    return;
  }
  if (column > top.column) {
    indents_.push_back({column, narrow_column});
    push(Token::kIndent, position_, position_);
    return;
  }
  while (indents_.size() > 1 && column <= indents_[indents_.size() - 2].column)
    close_block(position_);
  // Between two blocks: taken as a line of the inner one, with one error for all such lines.
  if (column == indents_.back().column || column == tolerated_column_) return;
  tolerated_column_ = column;
  push_error(DiagKind::kBadIndent, position_, position_ + 1,
             "this indentation matches no outer block");
}

void Lexer::close_block(uint32_t at) {
  indents_.pop_back();
  push(Token::kDedent, at, at).column = indents_.back().column;
}

void Lexer::lex_token() {
  char c = peek();
  if (c == ' ' || c == '\t' || c == '\f') {
    ++position_;
  } else if (c == '\n' || c == '\r') {
    if (c == '\r' && peek(1) == '\n') ++position_;
    uint32_t begin = position_;
    ++position_;
    if (brackets_.empty() && !single_line_) {
      push(Token::kNewline, begin, position_);
      line_start_ = true;
    } else {
      physical_line_start_ = true;
      line_column_ = 0;
      for (uint32_t p = position_; p < end_ && (text_[p] == ' ' || text_[p] == '\t'); ++p)
        line_column_ = text_[p] == '\t' ? (line_column_ / 8 + 1) * 8 : line_column_ + 1;
    }
  } else if (c == '#') {
    while (!at_end() && peek() != '\n') ++position_;
  } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
    position_ += peek(1) == '\n' ? 2 : 3;
  } else if (is_name_start(c)) {
    lex_name();
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    lex_number();
  } else if (c == '"' || c == '\'') {
    lex_string(position_);
  } else {
    lex_punctuation();
  }
}

void Lexer::lex_name() {
  uint32_t begin = position_;
  while (!at_end() && is_name_char(peek())) ++position_;
  std::string_view word = text_.substr(begin, position_ - begin);
  if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) return lex_string(begin);
  Token kind = Token::kName;
  for (const Spelling& keyword : kKeywords)
    if (keyword.text == word) kind = keyword.token;
  if (physical_line_start_ && !brackets_.empty() && !single_line_ &&
      std::ranges::find(kStatementOnly, kind) != std::end(kStatementOnly)) {
    position_ = begin;
    return leave_open_brackets();
  }
  push(kind, begin, position_);
}

// A statement keyword at the start of a line inside brackets: reports the open bracket and starts a
// new logical line there.
void Lexer::leave_open_brackets() {
  report_open_bracket();
  push(Token::kNewline, position_, position_);
  while (position_ > 0 && text_[position_ - 1] != '\n' && text_[position_ - 1] != '\r') --position_;
  line_start_ = true;
}

void Lexer::report_open_bracket() {
  Bracket open = brackets_.back();
  brackets_.clear();
  physical_line_start_ = false;  // The error is part of the statement, not a line of its own.
  push_error(DiagKind::kSyntax, open.position, open.position + 1,
             in_quotes({&open.open, 1}) + " is never closed", true);
}

void Lexer::lex_number() {
  uint32_t begin = position_;
  auto digits = [&](auto accept) {
    while (accept(peek()) || (peek() == '_' && accept(peek(1)))) ++position_;
  };
  char base = to_lower(peek(1));
  if (peek() == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    position_ += 2;
    if (peek() == '_') ++position_;
    digits([&](char c) {
      return base == 'x'   ? is_hex_digit(c)
             : base == 'o' ? c >= '0' && c <= '7'
                           : c == '0' || c == '1';
    });
    if (position_ == begin + 2) base = '?';  // no digit at all
  } else {
    base = 'd';
    digits(is_digit);
    if (peek() == '.') {
      ++position_;
      digits(is_digit);
    }
    bool sign = peek(1) == '+' || peek(1) == '-';
    if (to_lower(peek()) == 'e' && is_digit(peek(sign ? 2 : 1))) {
      position_ += sign ? 2 : 1;
      digits(is_digit);
    }
    if (to_lower(peek()) == 'j') ++position_;
  }
  uint32_t word_end = position_;
  while (word_end < end_ && is_name_char(text_[word_end])) ++word_end;
  std::string_view word = text_.substr(position_, word_end - position_);
  bool bad = base == '?' ||
             (!word.empty() && std::ranges::find(kAfterNumber, word) == std::end(kAfterNumber));
  if (bad) {
    position_ = word_end;
    push_error(DiagKind::kBadLiteral, begin, position_,
               in_quotes(text_.substr(begin, position_ - begin)) + " is not a number");
    return;
  }
  push(Token::kNumber, begin, position_);
}

void Lexer::lex_string(uint32_t begin) {
  uint32_t quote = position_;
  bool is_format = false;
  for (uint32_t i = begin; i < quote; ++i) is_format |= to_lower(text_[i]) == 'f';
  std::string_view text = text_.substr(0, end_);
  size_t close = find_string_end(text, quote, is_format);
  // A field that cannot be matched is reported by the parser; the text ends at the first quote.
  if (close == text.npos && is_format) close = find_string_end(text, quote, false);
  if (close == text.npos) {
    bool triple = starts_with("\"\"\"") || starts_with("'''");
    uint32_t stop = quote;
    while (stop < end_ && text_[stop] != '\n' && text_[stop] != '\r') ++stop;
    uint32_t shown = triple ? quote + 3 : stop;
    position_ = triple ? end_ : stop;
    push_error(DiagKind::kBadLiteral, begin, shown, "this string is never closed", triple);
    return;
  }
  position_ = static_cast<uint32_t>(close);
  push(is_format ? Token::kFString : Token::kString, begin, position_);
}

void Lexer::lex_punctuation() {
  // A line `@name` inside brackets, not deeper than the statement: a decorator (see above).
  if (peek() == '@' && physical_line_start_ && !brackets_.empty() && !single_line_ &&
      line_column_ <= indents_.back().column && is_name_start(peek(1)))
    return leave_open_brackets();
  for (const Spelling& punctuation : kPunctuation) {
    if (!starts_with(punctuation.text)) continue;
    uint32_t begin = position_;
    char c = peek();
    if (c == ')' || c == ']' || c == '}') return close_bracket(c);
    position_ += static_cast<uint32_t>(punctuation.text.size());
    push(punctuation.token, begin, position_);
    if (c == '(' || c == '[' || c == '{') brackets_.push_back({c, begin});
    return;
  }
  uint32_t begin = position_;
  unsigned char c = static_cast<unsigned char>(peek());
  ++position_;
  std::string shown = c > ' ' && c < 0x7f ? std::string("'") + static_cast<char>(c) + "'"
                                          : "byte " + std::to_string(int{c});
  push_error(DiagKind::kSyntax, begin, position_, shown + " is not part of Python's text");
}

void Lexer::close_bracket(char close) {
  uint32_t begin = position_++;
  char open = close == ')' ? '(' : close == ']' ? '[' : '{';
  Token kind = close == ')' ? Token::kRParen : close == ']' ? Token::kRBracket : Token::kRBrace;
  auto matches = [&](const Bracket& bracket) { return bracket.open == open; };
  if (!brackets_.empty() && brackets_.back().open == open) {
    brackets_.pop_back();
    push(kind, begin, position_);
    return;
  }
  std::string message = std::string("'") + close + "' closes nothing";
  if (!brackets_.empty())
    message = std::string("'") + close + "' does not match '" + brackets_.back().open + "'";
  push_error(DiagKind::kSyntax, begin, position_, std::move(message));
  auto match = std::find_if(brackets_.rbegin(), brackets_.rend(), matches);
  if (match != brackets_.rend()) brackets_.erase(match.base() - 1, brackets_.end());
}

void Lexer::finish() {
  if (!brackets_.empty() && !single_line_) report_open_bracket();
  bool open_line = !tokens_.empty() && tokens_.back().kind != Token::kNewline;
  if (open_line || single_line_) push(Token::kNewline, end_, end_);
  line_column_ = 0;
  while (indents_.size() > 1) close_block(end_);
  push(Token::kEnd, end_, end_);
}

void Lexer::restart_at(size_t index) {
  TW_CHECK(index < tokens_.size() && tokens_[index].first_on_line, "restart inside a line");
  position_ = tokens_[index].begin;
  for (size_t i = tokens_.size(); i-- > index;)
    if (tokens_[i].kind == Token::kError) errors_.resize(tokens_[i].error);
  tokens_.resize(index);
  // The indentation before this statement, from the tokens that opened and closed blocks.
  indents_.assign(1, {0, 0});
  for (const TokenInfo& token : tokens_) {
    if (token.kind == Token::kIndent) {
      uint32_t begin = token.begin;
      while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
      indents_.push_back({token.column, token.begin - begin});
    }
    if (token.kind == Token::kDedent && indents_.size() > 1) indents_.pop_back();
  }
  brackets_.clear();
  push(Token::kNewline, position_, position_);
  while (position_ > 0 && text_[position_ - 1] != '\n' && text_[position_ - 1] != '\r') --position_;
  line_start_ = true;
  run();
}

}  // namespace tilewright::dsl
