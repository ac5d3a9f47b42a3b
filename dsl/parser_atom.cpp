// Atoms: names, literals, bracketed expressions, strings and the inside of f-strings.
#include "dsl/literals.h"
#include "dsl/parser_internal.h"

namespace tilewright::dsl {

void Parser::open_bracket() {
  open_brackets_.push_back(here());
  advance();
}

bool Parser::close_bracket(Token close, std::string_view expected) {
  if (!at(close)) {
    fail_expected(expected);
    return false;
  }
  open_brackets_.pop_back();
  advance();
  return true;
}

// atom: NAME | NUMBER | STRING+ | 'True' | 'False' | 'None' | '...' | '(' … ')' | '[' … ']' | '{' …
Expr* Parser::parse_atom() {
  DepthGuard guard(*this);
  Span span = here();
  auto constant = [&](ExprKind kind) {
    advance();
    return make(kind, span);
  };
  switch (kind()) {
    case Token::kName: {
      Expr* expr = make(ExprKind::kName, span);
      expr->text = token_text();
      advance();
      return expr;
    }
    case Token::kNumber:
      return parse_number();
    case Token::kString:
    case Token::kFString:
      return parse_strings();
    case Token::kTrueKeyword:
      return constant(ExprKind::kTrue);
    case Token::kFalseKeyword:
      return constant(ExprKind::kFalse);
    case Token::kNoneKeyword:
      return constant(ExprKind::kNone);
    case Token::kEllipsis:
      return constant(ExprKind::kEllipsis);
    case Token::kLParen:
      return parse_parenthesised();
    case Token::kLBracket:
      return parse_list();
    case Token::kLBrace:
      return parse_braces();
    default:
      fail_expected("an expression");
      return make(ExprKind::kNone, span);
  }
}

bool Parser::at_comprehension() const {
  return at(Token::kForKeyword) || (at(Token::kAsyncKeyword) && kind(1) == Token::kForKeyword);
}

// clauses: (['async'] 'for' targets 'in' or_test ('if' condition)*)+
std::vector<Comprehension> Parser::parse_clauses() {
  std::vector<Comprehension> clauses;
  while (at_comprehension()) {
    accept(Token::kAsyncKeyword);
    advance();
    Comprehension clause;
    clause.target = parse_target_list();
    expect(Token::kInKeyword, " of the comprehension");
    clause.iterable = parse_bool(Token::kOrKeyword);
    while (accept(Token::kIfKeyword)) {
      bool is_named = at(Token::kName) && kind(1) == Token::kWalrus;
      clause.conditions.push_back(is_named ? parse_named() : parse_bool(Token::kOrKeyword));
    }
    clauses.push_back(std::move(clause));
  }
  return clauses;
}

// '(' ')' | '(' named clauses ')' | '(' yield ')' | '(' expression_list ')'
Expr* Parser::parse_parenthesised() {
  Span start = here();
  open_bracket();
  if (at(Token::kRParen)) {
    close_bracket(Token::kRParen, "')'");
    return make(ExprKind::kTuple, since(start));
  }
  Expr* expr = at(Token::kYieldKeyword) ? parse_yield() : parse_expression_list();
  if (at_comprehension()) {
    Expr* generator = ast_.new_expr(ExprKind::kUnsupported, start);
    generator->text = "a generator expression";
    generator->children = {expr};
    generator->clauses = parse_clauses();
    expr = finish(generator);
  }
  close_bracket(Token::kRParen, "',' or ')'");
  expr->span = since(start);  // carets show the parentheses
  return expr;
}

// '[' [starred clauses | expression_list] ']'
Expr* Parser::parse_list() {
  Span start = here();
  open_bracket();
  Expr* list = ast_.new_expr(ExprKind::kList, start);
  while (!at(Token::kRBracket) && !panic_) {
    list->children.push_back(parse_starred());
    if (list->children.size() == 1 && at_comprehension()) {
      list->kind = ExprKind::kListComp;
      list->clauses = parse_clauses();
      break;
    }
    if (!accept(Token::kComma)) break;
  }
  close_bracket(Token::kRBracket, "',' or ']' in this list");
  list->span = since(start);
  return finish(list);
}

// '{' [(expression ':' expression | '**' binary | starred), …] '}' and comprehensions of both
Expr* Parser::parse_braces() {
  Span start = here();
  open_bracket();
  Expr* dict = ast_.new_expr(ExprKind::kDict, start);
  auto refuse = [&](std::string text) {
    dict->kind = ExprKind::kUnsupported;
    dict->text = std::move(text);
  };
  while (!at(Token::kRBrace) && !panic_) {
    if (accept(Token::kPow)) {
      refuse("a dict display with '**'");
      dict->children.push_back(parse_binary(1));
    } else {
      dict->children.push_back(parse_starred());
      bool is_dict = accept(Token::kColon);
      if (is_dict)
        dict->children.push_back(parse_expression());
      else
        refuse("a set display");
      if (at_comprehension()) {
        refuse(is_dict ? "a dict comprehension" : "a set comprehension");
        dict->clauses = parse_clauses();
        break;
      }
    }
    if (!accept(Token::kComma)) break;
  }
  close_bracket(Token::kRBrace, "',' or '}' in this dict");
  dict->span = since(start);
  return finish(dict);
}

Expr* Parser::parse_number() {
  Span span = here();
  std::string_view text = token_text();
  advance();
  Number number = dsl::parse_number(text);
  switch (number.kind) {
    case Number::Kind::kInt: {
      Expr* expr = make(ExprKind::kInt, span);
      expr->int_bits = number.int_bits;
      return expr;
    }
    case Number::Kind::kFloat: {
      Expr* expr = make(ExprKind::kFloat, span);
      expr->number = number.number;
      return expr;
    }
    case Number::Kind::kImaginary:
      return unsupported(span, "a complex number");
    case Number::Kind::kTooLarge:
      if (in_kernel_) fail(DiagKind::kBadLiteral, span, "this integer needs more than 64 bits");
      return unsupported(span, "an integer of more than 64 bits");
    case Number::Kind::kBad:
      break;
  }
  fail(DiagKind::kBadLiteral, span, in_quotes(text) + " is not a number: leading zeros");
  return make(ExprKind::kInt, span);
}

// STRING+: adjacent literals are one; an f-string among them makes the whole an f-string.
Expr* Parser::parse_strings() {
  Span start = here();
  bool is_format = false, is_bytes = false;
  std::vector<Expr*> parts;
  std::string text;
  while (at(Token::kString) || at(Token::kFString)) {
    Span literal = here();
    StringParts shape = split_string(token_text());
    is_bytes |= shape.is_bytes;
    is_format |= shape.is_format;
    if (shape.is_format)
      parse_format_string(literal, parts, text);
    else
      decode(literal, literal.begin + shape.body_begin, literal.begin + shape.body_end,
             shape.is_raw, text);
    advance();
  }
  if (is_bytes) return unsupported(since(start), "a bytes literal");
  if (is_format) {
    flush_text(since(start), parts, text);
    return make(ExprKind::kFString, since(start), std::move(parts));
  }
  Expr* expr = make(ExprKind::kString, since(start));
  expr->text = std::move(text);
  return expr;
}

bool Parser::decode(Span literal, size_t begin, size_t end, bool is_raw, std::string& text) {
  std::string_view body = text_.substr(begin, end - begin);
  size_t old_size = text.size();
  auto error = decode_string(body, is_raw, text);
  if (!error) return true;
  if (!in_kernel_) {  // Text of host code; what it says does not matter.
    text.replace(old_size, text.npos, body);
    return true;
  }
  fail(DiagKind::kBadLiteral,
       {static_cast<uint32_t>(begin + error->begin), static_cast<uint32_t>(begin + error->end),
        literal.file},
       error->message);
  return false;
}

void Parser::flush_text(Span span, std::vector<Expr*>& parts, std::string& text) {
  if (text.empty()) return;
  Expr* part = make(ExprKind::kString, span);
  part->text = std::move(text);
  text.clear();
  parts.push_back(part);
}

// Cuts the f-string at the current token into text and fields.
void Parser::parse_format_string(Span span, std::vector<Expr*>& parts, std::string& text) {
  StringParts shape = split_string(token_text());
  size_t i = span.begin + shape.body_begin, end = span.begin + shape.body_end;
  auto fail_brace = [&](std::string message) {
    auto at = static_cast<uint32_t>(i);
    fail(DiagKind::kBadLiteral, {at, at + 1, span.file}, std::move(message));
  };
  while (i < end && !panic_) {
    size_t stop = i;
    while (stop < end && text_[stop] != '{' && text_[stop] != '}')
      stop += text_[stop] == '\\' && stop + 1 < end && text_[stop + 1] != '{' ? 2 : 1;
    stop = std::min(stop, end);
    if (!decode(span, i, stop, shape.is_raw, text)) return;
    i = stop;
    if (i == end) return;
    if (i + 1 < end && text_[i + 1] == text_[i]) {  // {{ and }}
      text += text_[i];
      i += 2;
      continue;
    }
    if (text_[i] == '}') return fail_brace("a single '}' in an f-string is written '}}'");
    auto field = find_format_field(text_.substr(0, end), i + 1);
    if (!field) return fail_brace("this field of the f-string is never closed");
    flush_text(span, parts, text);
    if (!parse_format_field(i + 1, field->expression_end, field->close, parts, text)) return;
    i = field->close + 1;
  }
}

// expression_list ['='] ['!' NAME] [':' format]
bool Parser::parse_format_field(size_t begin, size_t expression_end, size_t close,
                                std::vector<Expr*>& parts, std::string& text) {
  DepthGuard guard(*this);
  std::string_view source = text_.substr(begin, expression_end - begin);
  std::string format;
  size_t mark = source.rfind('!');
  bool converts = mark != source.npos && mark + 2 == source.size() && source[mark + 1] != '=';
  if (converts) {
    format = source.substr(mark);
    source = source.substr(0, mark);
  }
  std::string_view trimmed = source.substr(0, source.find_last_not_of(" \t\n") + 1);
  if (trimmed.ends_with('=') && !trimmed.ends_with("==")) {  // {x=} shows its own text
    text += source;
    flush_text({static_cast<uint32_t>(begin), static_cast<uint32_t>(close), ast_.file}, parts,
               text);
    if (format.empty()) format = "!r";
    source = trimmed.substr(0, trimmed.size() - 1);
  }
  if (expression_end < close) format += text_.substr(expression_end, close - expression_end);
  auto end = static_cast<uint32_t>(begin + source.size());
  Parser inner(ast_, text_, Lexer(text_, ast_.file, static_cast<uint32_t>(begin), end), *sink_);
  inner.depth_ = depth_;
  inner.in_kernel_ = in_kernel_;
  inner.may_restart_ = false;
  if (inner.at(Token::kNewline)) inner.fail_here("this field of the f-string is empty");
  Expr* expr = inner.at(Token::kYieldKeyword) ? inner.parse_yield() : inner.parse_expression_list();
  if (!inner.panic_ && !inner.at(Token::kNewline)) inner.fail_expected("the end of this field");
  if (inner.panic_) {
    panic_ = true;
    return false;
  }
  if (!format.empty()) {
    expr = make(ExprKind::kFormatted, expr->span, {expr});
    expr->text = std::move(format);
  }
  parts.push_back(expr);
  return true;
}

}  // namespace tilewright::dsl
