// Expressions from lambda down to calls and subscripts; each comment is the grammar line.
#include "dsl/parser_internal.h"

namespace tilewright::dsl {
namespace {

struct BinaryOperator {
  Operator op = Operator::kNone;
  int precedence = 0;  // higher binds tighter
};

BinaryOperator binary_operator(Token token) {
  switch (token) {
    case Token::kPipe:
      return {Operator::kOr, 1};
    case Token::kCaret:
      return {Operator::kXor, 2};
    case Token::kAmpersand:
      return {Operator::kAnd, 3};
    case Token::kShl:
      return {Operator::kShl, 4};
    case Token::kShr:
      return {Operator::kShr, 4};
    case Token::kAdd:
      return {Operator::kAdd, 5};
    case Token::kSub:
      return {Operator::kSub, 5};
    case Token::kMul:
      return {Operator::kMul, 6};
    case Token::kDiv:
      return {Operator::kDiv, 6};
    case Token::kFloorDiv:
      return {Operator::kFloorDiv, 6};
    case Token::kMod:
      return {Operator::kMod, 6};
    case Token::kAt:
      return {Operator::kMatMul, 6};
    default:
      return {};
  }
}

Operator comparison_operator(Token token) {
  switch (token) {
    case Token::kEq:
      return Operator::kEq;
    case Token::kNe:
      return Operator::kNe;
    case Token::kLt:
      return Operator::kLt;
    case Token::kLe:
      return Operator::kLe;
    case Token::kGt:
      return Operator::kGt;
    case Token::kGe:
      return Operator::kGe;
    case Token::kInKeyword:
      return Operator::kIn;
    case Token::kIsKeyword:
      return Operator::kIs;
    default:
      return Operator::kNone;
  }
}

Operator unary_operator(Token token) {
  switch (token) {
    case Token::kAdd:
      return Operator::kPos;
    case Token::kSub:
      return Operator::kNeg;
    case Token::kTilde:
      return Operator::kInvert;
    default:
      return Operator::kNone;
  }
}

}  // namespace

Expr* Parser::finish(Expr* expr) {
  int height = 0;
  auto raise_to = [&](const Expr* child) {
    if (child && child->height > height) height = child->height;
  };
  for (const Expr* child : expr->children) raise_to(child);
  for (const Keyword& keyword : expr->keywords) raise_to(keyword.value);
  for (const Param& param : expr->params) raise_to(param.default_value);
  for (const Comprehension& clause : expr->clauses) {
    raise_to(clause.target);
    raise_to(clause.iterable);
    for (const Expr* condition : clause.conditions) raise_to(condition);
  }
  if (height >= kMaxExprHeight) {
    fail(DiagKind::kSyntax, expr->span, "this expression is nested too deeply");
    expr->children.clear();
    height = 0;
  }
  expr->height = static_cast<uint16_t>(height + 1);
  return expr;
}

Expr* Parser::make(ExprKind kind, Span span, std::vector<Expr*> children) {
  Expr* expr = ast_.new_expr(kind, span);
  expr->children = std::move(children);
  return finish(expr);
}

Expr* Parser::unsupported(Span span, std::string text, std::vector<Expr*> children) {
  Expr* expr = make(ExprKind::kUnsupported, span, std::move(children));
  expr->text = std::move(text);
  return expr;
}

// expression_list: starred (',' starred)* [',']
Expr* Parser::parse_expression_list() {
  Span start = here();
  Expr* first = parse_starred();
  if (!at(Token::kComma)) return first;
  std::vector<Expr*> items{first};
  while (accept(Token::kComma)) {
    Token next = kind();
    if (next == Token::kNewline || next == Token::kRParen || next == Token::kAssign ||
        next == Token::kSemicolon || next == Token::kColon || next == Token::kEnd)
      break;
    items.push_back(parse_starred());
  }
  return make(ExprKind::kTuple, since(start), std::move(items));
}

// starred: '*' binary | named
Expr* Parser::parse_starred() {
  if (!at(Token::kMul)) return parse_named();
  Span start = here();
  advance();
  Expr* value = parse_binary(1);
  return make(ExprKind::kStarred, since(start), {value});
}

// named: [NAME ':='] expression
Expr* Parser::parse_named() {
  if (!at(Token::kName) || kind(1) != Token::kWalrus) return parse_expression();
  Span start = here();
  std::string name = expect_name("a name");
  advance();
  Expr* value = parse_expression();
  Expr* expr = make(ExprKind::kNamed, since(start), {value});
  expr->text = std::move(name);
  return expr;
}

// expression: lambda | ternary
Expr* Parser::parse_expression() {
  DepthGuard guard(*this);
  if (at(Token::kLambdaKeyword)) return parse_lambda();
  return parse_ternary();
}

// ternary: or_test ['if' or_test 'else' expression]
Expr* Parser::parse_ternary() {
  Span start = here();
  Expr* value = parse_bool(Token::kOrKeyword);
  if (!accept(Token::kIfKeyword)) return value;
  Expr* condition = parse_bool(Token::kOrKeyword);
  expect(Token::kElseKeyword, " of the conditional expression");
  Expr* otherwise = parse_expression();
  return make(ExprKind::kTernary, since(start), {condition, value, otherwise});
}

// or_test: and_test ('or' and_test)*;  and_test: not_test ('and' not_test)*
Expr* Parser::parse_bool(Token keyword) {
  Span start = here();
  bool is_or = keyword == Token::kOrKeyword;
  auto operand = [&] { return is_or ? parse_bool(Token::kAndKeyword) : parse_not(); };
  Expr* first = operand();
  if (!at(keyword)) return first;
  std::vector<Expr*> operands{first};
  while (accept(keyword)) operands.push_back(operand());
  Expr* expr = make(ExprKind::kBoolOp, since(start), std::move(operands));
  expr->op = is_or ? Operator::kBoolOr : Operator::kBoolAnd;
  return expr;
}

// not_test: 'not' not_test | comparison
Expr* Parser::parse_not() {
  if (!at(Token::kNotKeyword)) return parse_comparison();
  DepthGuard guard(*this);
  Span start = here();
  advance();
  Expr* operand = parse_not();
  Expr* expr = make(ExprKind::kUnary, since(start), {operand});
  expr->op = Operator::kNot;
  return expr;
}

// comparison: binary (('==' | … | 'is' ['not'] | ['not'] 'in') binary)*
Expr* Parser::parse_comparison() {
  Span start = here();
  Expr* first = parse_binary(1);
  std::vector<Expr*> operands{first};
  std::vector<Operator> ops;
  for (;;) {
    Operator op = comparison_operator(kind());
    if (at(Token::kNotKeyword) && kind(1) == Token::kInKeyword) {
      advance();
      op = Operator::kNotIn;
    }
    if (op == Operator::kNone) break;
    advance();
    if (op == Operator::kIs && accept(Token::kNotKeyword)) op = Operator::kIsNot;
    ops.push_back(op);
    operands.push_back(parse_binary(1));
  }
  if (ops.empty()) return first;
  Expr* expr = make(ExprKind::kCompare, since(start), std::move(operands));
  expr->ops = std::move(ops);
  return expr;
}

// binary: unary (operator unary)*, by precedence, left to right
Expr* Parser::parse_binary(int min_precedence) {
  Span start = here();
  Expr* left = parse_unary();
  for (;;) {
    auto [op, precedence] = binary_operator(kind());
    if (op == Operator::kNone || precedence < min_precedence) return left;
    advance();
    Expr* right = parse_binary(precedence + 1);
    left = make(ExprKind::kBinary, since(start), {left, right});
    left->op = op;
  }
}

// unary: ('+' | '-' | '~') unary | power;  power: postfix ['**' unary]
Expr* Parser::parse_unary() {
  Operator op = unary_operator(kind());
  Span start = here();
  if (op != Operator::kNone) {
    DepthGuard guard(*this);
    advance();
    Expr* operand = parse_unary();
    Expr* expr = make(ExprKind::kUnary, since(start), {operand});
    expr->op = op;
    return expr;
  }
  if (accept(Token::kAwaitKeyword)) {
    Expr* operand = parse_postfix();
    return unsupported(since(start), "an await expression", {operand});
  }
  Expr* base = parse_postfix();
  if (!accept(Token::kPow)) return base;
  DepthGuard guard(*this);
  Expr* exponent = parse_unary();
  Expr* expr = make(ExprKind::kBinary, since(start), {base, exponent});
  expr->op = Operator::kPow;
  return expr;
}

// postfix: atom ('.' NAME | '(' arguments ')' | '[' subscripts ']')*
Expr* Parser::parse_postfix() {
  Span start = here();
  Expr* expr = parse_atom();
  for (;;) {
    if (accept(Token::kDot)) {
      std::string name = expect_name("an attribute name");
      expr = make(ExprKind::kAttribute, since(start), {expr});
      expr->text = std::move(name);
    } else if (at(Token::kLParen)) {
      expr = parse_call(expr, start);
    } else if (at(Token::kLBracket)) {
      expr = parse_subscript(expr, start);
    } else {
      return expr;
    }
  }
}

// arguments: [argument (',' argument)* [',']]
Expr* Parser::parse_call(Expr* callee, Span start) {
  Expr* call = ast_.new_expr(ExprKind::kCall, start);
  call->children.push_back(callee);
  open_bracket();
  while (!at(Token::kRParen) && !panic_) {
    parse_argument(call);
    if (!accept(Token::kComma)) break;
  }
  close_bracket(Token::kRParen, "',' or ')' in this call");
  call->span = since(start);
  return finish(call);
}

// argument: NAME '=' expression | '*' expression | '**' expression | named [clauses]
void Parser::parse_argument(Expr* call) {
  Span start = here();
  if (at(Token::kName) && kind(1) == Token::kAssign) {
    Keyword keyword;
    keyword.span = start;
    keyword.name = expect_name("a name");
    advance();
    for (const Keyword& earlier : call->keywords)
      if (earlier.name == keyword.name)
        fail(DiagKind::kSyntax, start,
             "keyword argument " + in_quotes(keyword.name) + " is repeated");
    keyword.value = parse_expression();
    call->keywords.push_back(std::move(keyword));
    return;
  }
  if (at(Token::kMul) || at(Token::kPow)) {
    bool is_double = at(Token::kPow);
    advance();
    Expr* value = parse_expression();
    call->children.push_back(
        make(is_double ? ExprKind::kDoubleStarred : ExprKind::kStarred, since(start), {value}));
    return;
  }
  Expr* value = parse_named();
  if (at_comprehension()) {
    Expr* generator = ast_.new_expr(ExprKind::kUnsupported, start);
    generator->text = "a generator expression";
    generator->children = {value};
    generator->clauses = parse_clauses();
    generator->span = since(start);
    value = finish(generator);
  }
  if (!call->keywords.empty() && !panic_)
    fail(DiagKind::kSyntax, value->span, "a positional argument cannot follow a keyword argument");
  call->children.push_back(value);
}

// subscripts: slice (',' slice)* [',']
Expr* Parser::parse_subscript(Expr* base, Span start) {
  open_bracket();
  Expr* expr = ast_.new_expr(ExprKind::kSubscript, start);
  expr->children = {base, parse_slice()};
  while (accept(Token::kComma)) {
    if (at(Token::kRBracket)) {  // a[i,] is a[(i,)]
      if (expr->children.size() == 2)
        expr->children[1] = make(ExprKind::kTuple, since(start), {expr->children[1]});
      break;
    }
    expr->children.push_back(parse_slice());
  }
  close_bracket(Token::kRBracket, "',' or ']' in this subscript");
  expr->span = since(start);
  return finish(expr);
}

// slice: [expression] ':' [expression] [':' [expression]] | starred
Expr* Parser::parse_slice() {
  Span start = here();
  auto ends = [&] { return at(Token::kColon) || at(Token::kComma) || at(Token::kRBracket); };
  Expr* lower = at(Token::kColon) ? nullptr : parse_starred();
  if (!accept(Token::kColon)) return lower;
  Expr* upper = ends() ? nullptr : parse_expression();
  Expr* step = nullptr;
  if (accept(Token::kColon) && !ends()) step = parse_expression();
  return make(ExprKind::kSlice, since(start), {lower, upper, step});
}

// lambda: 'lambda' [params] ':' expression
Expr* Parser::parse_lambda() {
  Span start = here();
  advance();
  Expr* lambda = ast_.new_expr(ExprKind::kLambda, start);
  lambda->params = parse_params(Token::kColon, false);
  expect(Token::kColon, " of the lambda");
  lambda->children = {parse_expression()};
  lambda->span = since(start);
  return finish(lambda);
}

// yield: 'yield' ['from' expression | expression_list]
Expr* Parser::parse_yield() {
  Span start = here();
  advance();
  accept(Token::kFromKeyword);
  if (at(Token::kNewline) || at(Token::kRParen) || at(Token::kSemicolon))
    return unsupported(since(start), "a yield expression");
  Expr* value = parse_expression_list();
  return unsupported(since(start), "a yield expression", {value});
}

// target of `for`: ['*'] postfix
Expr* Parser::parse_target() {
  Span start = here();
  bool starred = accept(Token::kMul);
  Expr* target = parse_postfix();
  check_target(*target, true);
  return starred ? make(ExprKind::kStarred, since(start), {target}) : target;
}

// targets of `for`: target (',' target)* [',']
Expr* Parser::parse_target_list() {
  Span start = here();
  Expr* first = parse_target();
  if (!at(Token::kComma)) return first;
  std::vector<Expr*> items{first};
  while (accept(Token::kComma) && !at(Token::kInKeyword)) items.push_back(parse_target());
  return make(ExprKind::kTuple, since(start), std::move(items));
}

}  // namespace tilewright::dsl
