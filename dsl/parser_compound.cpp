// Compound statements: blocks, if, for, while, with, functions with their parameters, classes. A
// broken header does not hide its block: the block is still parsed for its own errors.
#include "dsl/parser_internal.h"

namespace tilewright::dsl {

// block: simple_line | NEWLINE INDENT statement+ DEDENT
void Parser::parse_block(std::vector<Stmt*>& out) {
  if (!at(Token::kNewline)) {
    switch (kind()) {
      case Token::kIfKeyword:
      case Token::kForKeyword:
      case Token::kWhileKeyword:
      case Token::kWithKeyword:
      case Token::kDefKeyword:
      case Token::kClassKeyword:
        return fail_here("a " + dsl::token_text(kind()) + " statement needs a line of its own");
      default:
        return parse_simple_line(out);
    }
  }
  advance();
  if (!at(Token::kIndent)) {
    // The line belongs to the outer block, where it is parsed next.
    sink_->error(DiagKind::kBadIndent, here(), "expected an indented block after ':'");
    return;
  }
  if (++block_depth_ > kMaxBlockDepth) {
    fail(DiagKind::kBadIndent, here(), "blocks are nested too deeply");
    panic_ = false;
    --block_depth_;
    return skip_block();
  }
  uint32_t column = statement_column_;
  advance();
  parse_statements(out);
  accept(Token::kDedent);
  statement_column_ = column;
  --block_depth_;
}

// Takes the ':' and sets the header's span. After a broken header the rest of the line goes.
void Parser::finish_header(Stmt* stmt, Span start) {
  expect(Token::kColon);
  stmt->span = since(start);
  if (!panic_) return;
  const auto& tokens = lexer_.tokens();
  size_t line_end = index_;
  while (line_end + 1 < tokens.size() && tokens[line_end].kind != Token::kNewline) {
    const TokenInfo& t = tokens[line_end];
    if (line_end > index_ && t.first_on_line && t.depth > 0) return;  // recover() cuts here
    ++line_end;
  }
  if (line_end + 1 >= tokens.size() || tokens[line_end + 1].kind != Token::kIndent) return;
  index_ = line_end;
  panic_ = false;
  open_brackets_.clear();
}

// else: ['else' ':' block]
void Parser::parse_else(std::vector<Stmt*>& out) {
  if (!accept(Token::kElseKeyword)) return;
  expect(Token::kColon, " after 'else'");
  parse_block(out);
}

// if: 'if' named ':' block ('elif' named ':' block)* else
Stmt* Parser::parse_if() {
  Stmt* first = nullptr;
  std::vector<Stmt*>* tail = nullptr;
  int added_depth = 0;
  while (first == nullptr || at(Token::kElifKeyword)) {
    Span start = here();
    advance();
    Stmt* stmt = ast_.new_stmt(StmtKind::kIf, start);
    stmt->value = parse_named();
    finish_header(stmt, start);
    parse_block(stmt->body);
    if (first == nullptr)
      first = stmt;
    else
      tail->push_back(stmt);
    tail = &stmt->orelse;
    // An elif is one level deeper in the tree.
    ++added_depth;
    if (++block_depth_ > kMaxBlockDepth && at(Token::kElifKeyword))
      fail_here("this chain of 'elif' is too long");
  }
  block_depth_ -= added_depth;
  parse_else(*tail);
  return first;
}

// while: 'while' named ':' block else
Stmt* Parser::parse_while() {
  Span start = here();
  advance();
  Stmt* stmt = ast_.new_stmt(StmtKind::kWhile, start);
  stmt->value = parse_named();
  finish_header(stmt, start);
  parse_block(stmt->body);
  parse_else(stmt->orelse);
  return stmt;
}

// for: 'for' targets 'in' list ':' block else
Stmt* Parser::parse_for() {
  Span start = here();
  advance();
  Stmt* stmt = ast_.new_stmt(StmtKind::kFor, start);
  stmt->targets = {parse_target_list()};
  expect(Token::kInKeyword, " of the for loop");
  stmt->value = parse_expression_list();
  finish_header(stmt, start);
  parse_block(stmt->body);
  parse_else(stmt->orelse);
  return stmt;
}

// with: 'with' expression ['as' target] (',' …)* ':' block
Stmt* Parser::parse_with() {
  Span start = here();
  advance();
  Stmt* outer = ast_.new_stmt(StmtKind::kWith, start);
  Stmt* stmt = outer;
  int items = 0;
  for (;; ++items) {
    stmt->value = parse_expression();
    if (accept(Token::kAsKeyword)) stmt->targets = {parse_target()};
    if (items + block_depth_ > kMaxBlockDepth) fail_here("too many items in this 'with'");
    if (!accept(Token::kComma)) break;
    Stmt* inner = ast_.new_stmt(StmtKind::kWith, start);
    stmt->body = {inner};
    stmt = inner;
  }
  block_depth_ += items;
  finish_header(stmt, start);
  outer->span = stmt->span;
  parse_block(stmt->body);
  block_depth_ -= items;
  return outer;
}

// function: ('@' named NEWLINE)* 'def' NAME '(' params ')' ['->' expression] ':' block
Stmt* Parser::parse_function() {
  Stmt* stmt = ast_.new_stmt(StmtKind::kFunction, here());
  while (at(Token::kAt)) {
    advance();
    stmt->decorators.push_back(parse_named());
    if (!at(Token::kNewline)) fail_expected("the end of the decorator");
    advance();
  }
  if (at(Token::kClassKeyword) || at(Token::kAsyncKeyword)) {
    refuse_statement();
    return stmt;
  }
  Span start = here();
  expect(Token::kDefKeyword);
  stmt->name_span = here();
  stmt->name = expect_name("a function name");
  if (at(Token::kLBracket)) fail_here("type parameters are not in the subset that kernels use");
  if (at(Token::kLParen)) {
    open_bracket();
    stmt->params = parse_params(Token::kRParen, true);
    close_bracket(Token::kRParen, "',' or ')' in the parameters");
  } else {
    fail_expected("'(' and the parameters");
  }
  if (accept(Token::kArrow)) stmt->annotation = parse_expression();
  finish_header(stmt, start);
  parse_block(stmt->body);
  return stmt;
}

// params: [param (',' param)* [',']]
std::vector<Param> Parser::parse_params(Token close, bool with_annotations) {
  std::vector<Param> params;
  bool keyword_only = false;
  while (!at(close) && !panic_) {
    parse_param(params, keyword_only, with_annotations);
    if (!accept(Token::kComma)) break;
  }
  return params;
}

// param: '/' | '*' | ['*' | '**'] NAME [':' expression] ['=' expression]
void Parser::parse_param(std::vector<Param>& params, bool& keyword_only, bool with_annotations) {
  if (accept(Token::kDiv)) return;  // What precedes it is positional-only, which no caller notices.
  Param param;
  param.kind = keyword_only ? Param::Kind::kKeywordOnly : Param::Kind::kNormal;
  if (accept(Token::kMul)) {
    keyword_only = true;
    if (at(Token::kComma)) return;
    param.kind = Param::Kind::kVarArgs;
  } else if (accept(Token::kPow)) {
    param.kind = Param::Kind::kVarKeywords;
  }
  param.span = here();
  param.name = expect_name("a parameter name");
  if (with_annotations && accept(Token::kColon)) param.annotation = parse_expression();
  if (accept(Token::kAssign)) param.default_value = parse_expression();
  if (panic_) return;
  for (const Param& earlier : params) {
    if (earlier.name == param.name)
      fail(DiagKind::kSyntax, param.span, "parameter " + in_quotes(param.name) + " is repeated");
    if (earlier.kind == Param::Kind::kVarKeywords)
      fail(DiagKind::kSyntax, param.span,
           "no parameter can follow " + in_quotes("**" + earlier.name));
  }
  bool needs_default = param.kind == Param::Kind::kNormal && !param.default_value;
  if (needs_default && !params.empty() && params.back().default_value)
    fail(DiagKind::kSyntax, param.span,
         "parameter " + in_quotes(param.name) + " needs a default because " +
             in_quotes(params.back().name) + " has one");
  params.push_back(std::move(param));
}

// class: 'class' NAME ['(' arguments ')'] ':' block
Stmt* Parser::parse_class() {
  Span start = here();
  advance();
  Stmt* stmt = ast_.new_stmt(StmtKind::kClass, start);
  stmt->name_span = here();
  stmt->name = expect_name("a class name");
  if (at(Token::kLParen)) parse_call(make(ExprKind::kName, stmt->name_span), stmt->name_span);
  finish_header(stmt, start);
  parse_block(stmt->body);
  return stmt;
}

}  // namespace tilewright::dsl
