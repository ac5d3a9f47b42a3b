// Tokens, errors and recovery of the parser, and its entry point.
#include "dsl/parser.h"

#include <algorithm>

#include "dsl/parser_internal.h"

namespace tilewright::dsl {

const TokenInfo& Parser::token(size_t ahead) const {
  const auto& tokens = lexer_.tokens();
  return tokens[std::min(index_ + ahead, tokens.size() - 1)];
}

std::string_view Parser::token_text(size_t ahead) const {
  const TokenInfo& t = token(ahead);
  return text_.substr(t.begin, t.end - t.begin);
}

Span Parser::since(Span start) const {
  if (index_ > 0) start.end = std::max(start.end, lexer_.tokens()[index_ - 1].end);
  return start;
}

void Parser::advance() {
  if (!panic_ && index_ + 1 < lexer_.tokens().size()) ++index_;
}

bool Parser::accept(Token kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool Parser::expect(Token kind, std::string_view context) {
  if (accept(kind)) return true;
  fail_expected(dsl::token_text(kind) + std::string(context));
  return false;
}

std::string Parser::expect_name(std::string_view what) {
  if (at(Token::kName)) {
    std::string name(token_text());
    advance();
    return name;
  }
  if (is_keyword(kind()))
    fail_here("expected " + std::string(what) + ", but " + dsl::token_text(kind()) +
              " is a keyword");
  else
    fail_expected(what);
  return {};
}

void Parser::fail_expected(std::string_view what) {
  if (panic_) return;
  std::string found(token_text());
  Token kind = this->kind();
  if (kind <= Token::kDedent || found.size() > 30 || found.find('\n') != found.npos)
    found = dsl::token_text(kind);
  else
    found = in_quotes(found);
  fail_here("expected " + std::string(what) + ", found " + found);
}

bool Parser::report_error_token() {
  if (token().kind != Token::kError) return false;
  const LexError& error = lexer_.errors()[token().error];
  if (reported_.insert(error.span.begin).second)
    sink_->error(error.kind, error.span, error.message);
  return true;
}

void Parser::fail(DiagKind kind, Span span, std::string message) {
  if (panic_) return;
  const TokenInfo& at = token();
  bool new_line = at.first_on_line && at.depth > 0 && at.column <= statement_column_;
  if (report_error_token()) {
    // The text itself is wrong here, which explains more than what was expected.
  } else if (new_line && !open_brackets_.empty()) {
    Span open = open_brackets_.back();
    sink_->error(DiagKind::kSyntax, open,
                 in_quotes(text_.substr(open.begin, 1)) + " is never closed");
  } else {
    sink_->error(kind, span, std::move(message));
  }
  panic_ = true;
}

void Parser::recover(size_t statement_begin) {
  panic_ = false;
  open_brackets_.clear();
  if (sink_->error_count() >= kMaxErrors) {
    index_ = lexer_.tokens().size() - 1;
    return;
  }
  while (!at(Token::kEnd) && !at(Token::kIndent) && !at(Token::kDedent)) {
    const TokenInfo& t = token();
    bool closes =
        t.kind == Token::kRParen || t.kind == Token::kRBracket || t.kind == Token::kRBrace;
    // A line inside brackets that starts where statements of this block start: the bracket above it
    // was meant to be closed.
    if (may_restart_ && t.first_on_line && t.depth > 0 && index_ > statement_begin && !closes &&
        t.column <= statement_column_) {
      lexer_.restart_at(index_);
      advance();  // over the end of line that the restart put in
      return;
    }
    advance();
    if (t.kind == Token::kNewline) return;
  }
}

std::unique_ptr<Ast> parse_file(const SourceMap& sources, uint16_t file, DiagSink& sink) {
  auto ast = std::make_unique<Ast>();
  ast->file = file;
  std::string_view text = sources.file(file).text();
  if (text.size() >= (uint64_t{1} << 31)) {
    sink.error(DiagKind::kIo, {0, 0, file}, "the file is larger than 2 GiB");
    return ast;
  }
  Parser(*ast, text, Lexer(text, file), sink).parse_module();
  sink.sort();
  return ast;
}

}  // namespace tilewright::dsl
