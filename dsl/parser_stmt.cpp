// Simple statements, imports and the statement loop of a block.
#include "dsl/parser_internal.h"

namespace tilewright::dsl {
namespace {

Operator augmented_operator(Token token) {
  switch (token) {
    case Token::kAddAssign:
      return Operator::kAdd;
    case Token::kSubAssign:
      return Operator::kSub;
    case Token::kMulAssign:
      return Operator::kMul;
    case Token::kDivAssign:
      return Operator::kDiv;
    case Token::kFloorDivAssign:
      return Operator::kFloorDiv;
    case Token::kModAssign:
      return Operator::kMod;
    case Token::kPowAssign:
      return Operator::kPow;
    case Token::kMatMulAssign:
      return Operator::kMatMul;
    case Token::kAndAssign:
      return Operator::kAnd;
    case Token::kOrAssign:
      return Operator::kOr;
    case Token::kXorAssign:
      return Operator::kXor;
    case Token::kShlAssign:
      return Operator::kShl;
    case Token::kShrAssign:
      return Operator::kShr;
    default:
      return Operator::kNone;
  }
}

}  // namespace

// Statements until the block's dedent, with recovery between them.
void Parser::parse_statements(std::vector<Stmt*>& out) {
  int extra_indents = 0;
  bool after_error = false, is_refused = false;
  while (!at(Token::kEnd)) {
    if (at(Token::kDedent)) {
      if (extra_indents == 0) return;
      --extra_indents;
      advance();
      continue;
    }
    size_t begin = index_;
    if (at(Token::kIndent)) {
      if (!after_error)  // else it is the block of a broken statement, parsed for its own errors
        sink_->error(DiagKind::kBadIndent, {token().begin, token(1).end, ast_.file},
                     "this line is indented deeper than its block");
      ++extra_indents;
      advance();
      continue;
    }
    bool continues = at(Token::kElseKeyword) || at(Token::kElifKeyword) ||
                     at(Token::kExceptKeyword) || at(Token::kFinallyKeyword);
    if (after_error && continues) {  // the rest of a broken statement
      skip_line();
      if (is_refused && at(Token::kIndent)) skip_block();
      continue;
    }
    statement_column_ = token().column;
    is_refused = is_refused_statement();
    parse_statement(out);
    after_error = panic_;
    if (panic_) recover(begin);
    if (is_refused && at(Token::kIndent)) skip_block();
  }
}

// Statements that Python has and kernels have not.
bool Parser::is_refused_statement() const {
  switch (kind()) {
    case Token::kTryKeyword:
    case Token::kExceptKeyword:
    case Token::kFinallyKeyword:
    case Token::kAsyncKeyword:
    case Token::kDelKeyword:
    case Token::kGlobalKeyword:
    case Token::kNonlocalKeyword:
      return true;
    default:
      return at(Token::kName) && kind(1) == Token::kName &&
             (token_text() == "match" || token_text() == "type");
  }
}

void Parser::parse_statement(std::vector<Stmt*>& out) {
  if (is_refused_statement()) return refuse_statement();
  switch (kind()) {
    case Token::kIfKeyword:
      out.push_back(parse_if());
      break;
    case Token::kForKeyword:
      out.push_back(parse_for());
      break;
    case Token::kWhileKeyword:
      out.push_back(parse_while());
      break;
    case Token::kWithKeyword:
      out.push_back(parse_with());
      break;
    case Token::kAt:
    case Token::kDefKeyword:
      out.push_back(parse_function());
      break;
    case Token::kClassKeyword:
      out.push_back(parse_class());
      break;
    case Token::kElifKeyword:
    case Token::kElseKeyword:
      fail_here(dsl::token_text(kind()) + " has no 'if' above it");
      break;
    default:
      parse_simple_line(out);
  }
}

void Parser::refuse_statement() {
  fail_here(in_quotes(token_text()) + " statements are not in the subset that kernels use");
}

// simple_line: simple (';' simple)* [';'] NEWLINE
void Parser::parse_simple_line(std::vector<Stmt*>& out) {
  do {
    if (at(Token::kNewline)) break;
    Stmt* stmt = parse_simple();
    if (!panic_) out.push_back(stmt);
  } while (accept(Token::kSemicolon));
  if (!at(Token::kNewline)) return fail_expected("the end of the statement");
  advance();
}

// simple: 'pass' | 'break' | 'continue' | 'return' [list] | 'assert' e [',' e] | 'raise' [e
//         ['from' e]] | import | expression statement
Stmt* Parser::parse_simple() {
  Span start = here();
  auto ends = [&] { return at(Token::kNewline) || at(Token::kSemicolon); };
  Stmt* stmt = nullptr;
  switch (kind()) {
    case Token::kPassKeyword:
    case Token::kBreakKeyword:
    case Token::kContinueKeyword:
      stmt = ast_.new_stmt(at(Token::kPassKeyword)    ? StmtKind::kPass
                           : at(Token::kBreakKeyword) ? StmtKind::kBreak
                                                      : StmtKind::kContinue,
                           start);
      advance();
      break;
    case Token::kReturnKeyword:
      stmt = ast_.new_stmt(StmtKind::kReturn, start);
      advance();
      if (!ends()) stmt->value = parse_expression_list();
      break;
    case Token::kAssertKeyword:
      stmt = ast_.new_stmt(StmtKind::kAssert, start);
      advance();
      stmt->value = parse_expression();
      if (accept(Token::kComma)) stmt->message = parse_expression();
      break;
    case Token::kRaiseKeyword:
      stmt = ast_.new_stmt(StmtKind::kRaise, start);
      advance();
      if (!ends()) stmt->value = parse_expression();
      if (accept(Token::kFromKeyword)) stmt->message = parse_expression();
      break;
    case Token::kImportKeyword:
    case Token::kFromKeyword:
      stmt = parse_import();
      break;
    default:
      stmt = parse_expression_statement();
  }
  stmt->span = since(start);
  return stmt;
}

// expression statement: list | target ':' e ['=' list] | target op'=' list | (targets '=')+ list
Stmt* Parser::parse_expression_statement() {
  Span start = here();
  auto value = [&] { return at(Token::kYieldKeyword) ? parse_yield() : parse_expression_list(); };
  Expr* first = value();
  if (accept(Token::kColon)) {
    Stmt* stmt = ast_.new_stmt(StmtKind::kAnnAssign, start);
    check_target(*first, false);
    stmt->targets = {first};
    stmt->annotation = parse_expression();
    if (accept(Token::kAssign)) stmt->value = value();
    return stmt;
  }
  if (Operator op = augmented_operator(kind()); op != Operator::kNone) {
    Stmt* stmt = ast_.new_stmt(StmtKind::kAugAssign, start);
    check_target(*first, false);
    advance();
    stmt->op = op;
    stmt->targets = {first};
    stmt->value = value();
    return stmt;
  }
  Stmt* stmt = ast_.new_stmt(StmtKind::kExpr, start);
  stmt->value = first;
  while (at(Token::kAssign)) {
    check_target(*stmt->value, true);
    advance();
    stmt->kind = StmtKind::kAssign;
    stmt->targets.push_back(stmt->value);
    stmt->value = value();
  }
  return stmt;
}

void Parser::check_target(const Expr& target, bool allow_tuple) {
  switch (target.kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript:
      return;
    case ExprKind::kStarred:
      if (allow_tuple) return check_target(*target.children[0], true);
      break;
    case ExprKind::kTuple:
    case ExprKind::kList:
      if (!allow_tuple) break;
      for (const Expr* child : target.children) check_target(*child, true);
      return;
    default:
      break;
  }
  fail(DiagKind::kSyntax, target.span, "this expression cannot be assigned to");
}

std::string Parser::parse_dotted_name() {
  std::string name = expect_name("a module name");
  while (accept(Token::kDot)) (name += '.') += expect_name("a module name");
  return name;
}

// import: 'import' module ['as' NAME] (',' …)* | 'from' '.'* [module] 'import' ('*' | names)
Stmt* Parser::parse_import() {
  Span start = here();
  Stmt* stmt = ast_.new_stmt(StmtKind::kImport, start);
  if (accept(Token::kImportKeyword)) {
    do {
      ImportName& import = stmt->imports.emplace_back();
      import.span = here();
      import.module = parse_dotted_name();
      import.alias = import.module.substr(0, import.module.find('.'));
      if (accept(Token::kAsKeyword)) import.alias = expect_name("a name");
      import.span = since(import.span);
    } while (accept(Token::kComma));
    return stmt;
  }
  expect(Token::kFromKeyword);
  std::string module;
  while (at(Token::kDot) || at(Token::kEllipsis)) {
    module += token_text();
    advance();
  }
  if (module.empty() || !at(Token::kImportKeyword)) module += parse_dotted_name();
  expect(Token::kImportKeyword);
  if (at(Token::kMul)) {
    stmt->imports.push_back({module, "*", "*", here()});
    advance();
    return stmt;
  }
  bool in_parentheses = at(Token::kLParen);
  if (in_parentheses) open_bracket();
  do {
    if (in_parentheses && at(Token::kRParen)) break;
    ImportName& import = stmt->imports.emplace_back();
    import.span = here();
    import.module = module;
    import.name = import.alias = expect_name("a name");
    if (accept(Token::kAsKeyword)) import.alias = expect_name("a name");
    import.span = since(import.span);
  } while (accept(Token::kComma));
  if (in_parentheses) close_bracket(Token::kRParen, "',' or ')' in this import");
  return stmt;
}

}  // namespace tilewright::dsl
