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

// The first token of the current physical line, if it lies inside brackets and starts where
// statements of this block start: the bracket above it was meant to be closed. Else null.
const TokenInfo* Parser::statement_inside_brackets() const {
  const TokenInfo* t = &lexer_.tokens()[index_];
  while (!t->first_on_line && t != lexer_.tokens().data()) --t;
  bool closes =
      t->kind == Token::kRParen || t->kind == Token::kRBracket || t->kind == Token::kRBrace;
  bool is_statement = t->first_on_line && t->depth > 0 && !closes && t->column <= statement_column_;
  return is_statement ? t : nullptr;
}

void Parser::fail(DiagKind kind, Span span, std::string message) {
  if (panic_) return;
  panic_ = true;
  // The text itself being wrong here explains more than what was expected.
  if (report_error_token()) return;
  const TokenInfo* line = span == here() ? statement_inside_brackets() : nullptr;
  if (line != nullptr) {
    auto above = [&](Span bracket) { return bracket.begin < line->begin; };
    auto open = std::find_if(open_brackets_.rbegin(), open_brackets_.rend(), above);
    if (open != open_brackets_.rend()) {
      sink_->error(DiagKind::kSyntax, *open,
                   in_quotes(text_.substr(open->begin, 1)) + " is never closed");
      index_ = static_cast<size_t>(line - lexer_.tokens().data());
      return;
    }
  }
  sink_->error(kind, span, std::move(message));
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
    if (may_restart_ && t.first_on_line && index_ > statement_begin &&
        statement_inside_brackets() == &t) {
      lexer_.restart_at(index_);
      advance();  // over the end of line that the restart put in
      return;
    }
    bool ends = t.kind == Token::kNewline;
    advance();
    if (ends) return;
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
