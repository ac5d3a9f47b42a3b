// Module level: finds what can matter to kernels and steps over the rest by lines and indentation.
// Blocks of host code are entered, never parsed, because kernels may be nested in them.
#include <algorithm>

#include "dsl/parser.h"
#include "dsl/parser_internal.h"

namespace tilewright::dsl {
namespace {

// Packages with a `jit` of their own.
bool is_foreign_package(std::string_view module) {
  constexpr std::string_view kPackages[] = {"jax",  "numba",  "nb",       "torch", "cutlass",
                                            "cute", "taichi", "tilelang", "warp"};
  std::string_view root = module.substr(0, module.find('.'));
  return std::ranges::find(kPackages, root) != std::end(kPackages);
}

// The imports and assignments under `if …:` that a kernel should not see: a stand-in for a missing
// package, or another vendor's library.
bool is_other_vendor(std::string_view module) {
  for (std::string_view vendor : {".hip", ".amd", ".xpu", ".intel", ".ascend"})
    if (module.find(vendor) != module.npos) return true;
  return false;
}

void collect_names(const Expr* expr, std::vector<std::string>& out) {
  if (expr == nullptr) return;
  if (expr->kind == ExprKind::kName) out.push_back(expr->text);
  for (const Expr* child : expr->children) collect_names(child, out);
  for (const Keyword& keyword : expr->keywords) collect_names(keyword.value, out);
  for (const Comprehension& clause : expr->clauses) {
    collect_names(clause.iterable, out);
    for (const Expr* condition : clause.conditions) collect_names(condition, out);
  }
}

void collect_names(const std::vector<Stmt*>& body, std::vector<std::string>& out) {
  for (const Stmt* stmt : body) {
    collect_names(stmt->value, out);
    for (const Expr* target : stmt->targets) collect_names(target, out);
    collect_names(stmt->body, out);
    collect_names(stmt->orelse, out);
  }
}

void collect_decorator_names(const std::vector<Stmt*>& body, std::vector<std::string>& out) {
  for (const Stmt* stmt : body) {
    for (const Expr* decorator : stmt->decorators) collect_names(decorator, out);
    if (stmt->kind == StmtKind::kClass) collect_decorator_names(stmt->body, out);
  }
}

}  // namespace

bool is_jit_function(const Stmt& function) {
  for (const Expr* decorator : function.decorators) {
    const Expr* name = decorator;
    if (name->kind == ExprKind::kCall) name = name->children[0];
    if (name->text != "jit") continue;
    if (name->kind == ExprKind::kName) return true;
    if (name->kind != ExprKind::kAttribute) continue;
    const Expr* root = name;
    while (root->kind == ExprKind::kAttribute) root = root->children[0];
    if (!is_foreign_package(root->text)) return true;
  }
  return false;
}

void Parser::parse_module() {
  while (!at(Token::kEnd)) {
    if (at(Token::kIndent)) {
      scopes_.push_back(pending_);
      advance();
    } else if (at(Token::kDedent)) {
      close_scope();
      advance();
    } else {
      bool in_function = scopes_.back().kind == Scope::Kind::kFunction;
      pending_ = {in_function ? Scope::Kind::kFunction : Scope::Kind::kConditional, nullptr};
      scan_statement();
    }
  }
  while (scopes_.size() > 1) close_scope();
  for (const LexError& error : lexer_.errors())
    if (error.is_global && reported_.insert(error.span.begin).second)
      sink_->error(error.kind, error.span, error.message);
  parse_host_functions();
}

void Parser::close_scope() {
  if (scopes_.size() == 1) return;
  Stmt* class_stmt = scopes_.back().class_stmt;
  scopes_.pop_back();
  auto is_definition = [](const Stmt* stmt) {
    return stmt->kind == StmtKind::kFunction || stmt->kind == StmtKind::kClass;
  };
  if (class_stmt && std::ranges::any_of(class_stmt->body, is_definition)) keep(class_stmt);
}

// Adds a statement to the innermost class, or to the module.
void Parser::keep(Stmt* stmt) {
  auto scope = scopes_.rbegin();
  while (scope->kind == Scope::Kind::kConditional || scope->kind == Scope::Kind::kHandler) ++scope;
  (scope->class_stmt ? scope->class_stmt->body : ast_.body).push_back(stmt);
}

void Parser::skip_line() {
  while (!at(Token::kEnd) && !at(Token::kIndent) && !at(Token::kDedent)) {
    bool ends = at(Token::kNewline);
    advance();
    if (ends) return;
  }
}

// Steps over the block that starts at the current kIndent.
void Parser::skip_block() {
  int depth = 0;
  do {
    depth += at(Token::kIndent) ? 1 : at(Token::kDedent) ? -1 : 0;
    advance();
  } while (depth > 0 && !at(Token::kEnd));
}

void Parser::scan_statement() {
  switch (kind()) {
    case Token::kAt:
      return scan_decorated();
    case Token::kDefKeyword:
      if (scopes_.back().kind == Scope::Kind::kModule && kind(1) == Token::kName)
        host_functions_[std::string(token_text(1))] = index_;
      pending_ = {Scope::Kind::kFunction, nullptr};
      return skip_line();
    case Token::kAsyncKeyword:
      if (kind(1) == Token::kDefKeyword) pending_ = {Scope::Kind::kFunction, nullptr};
      return skip_line();
    case Token::kClassKeyword:
      pending_ = {Scope::Kind::kClass, ast_.new_stmt(StmtKind::kClass, here())};
      pending_.class_stmt->name = token_text(1);
      pending_.class_stmt->name_span = span_of(token(1));
      return skip_line();
    case Token::kExceptKeyword:
      pending_ = {Scope::Kind::kHandler, nullptr};
      return skip_line();
    case Token::kImportKeyword:
    case Token::kFromKeyword:
      return scan_import();
    case Token::kError:
      if (scopes_.back().kind != Scope::Kind::kFunction) report_error_token();
      return skip_line();
    default:
      return scan_simple();
  }
}

// True if the decorator at the current '@' ends in the name `jit`.
bool Parser::is_jit_decorator(size_t ahead) const {
  std::string_view root = token_text(ahead + 1), last;
  size_t i = ahead + 1;
  while (kind(i) == Token::kName) {
    last = token_text(i++);
    if (kind(i) != Token::kDot) break;
    ++i;
  }
  if (last != "jit" || (kind(i) != Token::kLParen && kind(i) != Token::kNewline)) return false;
  return !is_foreign_package(root) && !foreign_names_.contains(root);
}

void Parser::scan_decorated() {
  bool is_jit = false;
  size_t ahead = 0;
  while (kind(ahead) == Token::kAt) {
    is_jit |= is_jit_decorator(ahead);
    while (kind(ahead) != Token::kNewline && kind(ahead) != Token::kEnd) ++ahead;
    if (kind(ahead) == Token::kNewline) ++ahead;
  }
  if (!is_jit || kind(ahead) != Token::kDefKeyword) {
    while (at(Token::kAt)) skip_line();
    if (at(Token::kDefKeyword) || at(Token::kClassKeyword) || at(Token::kAsyncKeyword))
      scan_statement();
    return;
  }
  size_t begin = index_;
  statement_column_ = token().column;
  in_kernel_ = true;
  Stmt* function = parse_function();
  in_kernel_ = false;
  keep(function);
  if (!panic_) return;
  pending_ = {Scope::Kind::kFunction, nullptr};  // what is left of a broken kernel
  recover(begin);
}

void Parser::scan_import() {
  Scope::Kind scope = scopes_.back().kind;
  if (scope != Scope::Kind::kModule && scope != Scope::Kind::kConditional) return skip_line();
  size_t begin = index_;
  statement_column_ = token().column;
  std::vector<Stmt*> line;
  parse_simple_line(line);
  if (panic_) recover(begin);
  for (Stmt* stmt : line) {
    if (stmt->kind != StmtKind::kImport) continue;
    std::erase_if(stmt->imports, [&](const ImportName& import) {
      return scope == Scope::Kind::kConditional &&
             is_other_vendor(import.module + "." + import.name);
    });
    for (const ImportName& import : stmt->imports) {
      imported_names_.insert(import.alias);
      if (is_foreign_package(import.module)) foreign_names_.insert(import.alias);
    }
    if (!stmt->imports.empty()) keep(stmt);
  }
}

// True if the line at hand has an assignment outside of brackets.
bool Parser::line_assigns() const {
  bool is_type_alias = kind() == Token::kName && token_text() == "type" && kind(1) == Token::kName;
  if (is_type_alias || is_keyword(kind())) return false;
  for (size_t i = 0; kind(i) != Token::kNewline && kind(i) != Token::kEnd; ++i) {
    Token k = kind(i);
    bool assigns = k == Token::kAssign || (k >= Token::kPowAssign && k <= Token::kShrAssign) ||
                   (k >= Token::kAddAssign && k <= Token::kXorAssign);
    if (assigns && token(i).depth == 0) return true;
  }
  return false;
}

void Parser::scan_simple() {
  Scope::Kind scope = scopes_.back().kind;
  bool is_kept = scope == Scope::Kind::kModule || scope == Scope::Kind::kConditional ||
                 scope == Scope::Kind::kClass;
  if (!is_kept || !line_assigns()) return skip_line();
  size_t begin = index_;
  statement_column_ = token().column;
  std::vector<Stmt*> line;
  parse_simple_line(line);
  if (panic_) recover(begin);
  for (Stmt* stmt : line) {
    bool assigns = stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kAugAssign ||
                   (stmt->kind == StmtKind::kAnnAssign && stmt->value);
    if (!assigns) continue;
    // `if …: import triton` `else: triton = None` leaves the import in place.
    if (scope == Scope::Kind::kConditional && imported_names_.contains(stmt->targets[0]->text))
      continue;
    keep(stmt);
  }
}

// Parses the host functions that decorators reach by name, also through module-level variables and
// other host functions. What is not in the subset is left out: whoever needs it will say so.
void Parser::parse_host_functions() {
  std::vector<std::string> work;
  collect_decorator_names(ast_.body, work);
  std::set<std::string> seen;
  DiagSink scratch;
  DiagSink* sink = sink_;
  may_restart_ = false;
  while (!work.empty()) {
    std::string name = std::move(work.back());
    work.pop_back();
    if (!seen.insert(name).second) continue;
    for (const Stmt* stmt : ast_.body)
      if (stmt->kind == StmtKind::kAssign && stmt->targets[0]->text == name)
        collect_names(stmt->value, work);
    auto host = host_functions_.find(name);
    if (host == host_functions_.end()) continue;
    scratch = DiagSink();
    sink_ = &scratch;
    index_ = host->second;
    panic_ = false;
    statement_column_ = 0;
    Stmt* function = parse_function();
    sink_ = sink;
    if (scratch.has_errors()) continue;
    ast_.host_functions.push_back(function);
    collect_names(function->body, work);
  }
}

}  // namespace tilewright::dsl
