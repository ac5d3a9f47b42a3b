// The recursive-descent parser. After an error it panics: the current token reads as end of file,
// so every production runs to its end without a check of its own, and the statement is dropped. The
// statement loop then resumes at the next line. Productions never return null.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/ast.h"
#include "dsl/base/diagnostic.h"
#include "dsl/lexer.h"

namespace tilewright::dsl {

class Parser {
 public:
  Parser(Ast& ast, std::string_view text, Lexer lexer, DiagSink& sink)
      : ast_(ast), text_(text), lexer_(std::move(lexer)), sink_(&sink) {}

  // parser_module.cpp
  void parse_module();

 private:
  // How deep expressions and blocks may nest; far more than any kernel, little enough for any
  // stack.
  static constexpr int kMaxDepth = 100;
  static constexpr int kMaxBlockDepth = 100;
  // The parser gives up after this many errors.
  static constexpr int kMaxErrors = 100;

  struct DepthGuard {
    explicit DepthGuard(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) parser_.fail_here("this is nested too deeply");
    }
    ~DepthGuard() { --parser_.depth_; }
    Parser& parser_;
  };

  // ---- tokens (parser.cpp) ----
  const TokenInfo& token(size_t ahead = 0) const;
  Token kind(size_t ahead = 0) const { return panic_ ? Token::kEnd : token(ahead).kind; }
  bool at(Token kind) const { return this->kind() == kind; }
  std::string_view token_text(size_t ahead = 0) const;
  Span span_of(const TokenInfo& token) const { return {token.begin, token.end, ast_.file}; }
  Span here() const { return span_of(token()); }
  // From `start` to the end of the last token taken.
  Span since(Span start) const;
  void advance();
  bool accept(Token kind);
  // Takes the token, or fails with "expected 'x'<context>".
  bool expect(Token kind, std::string_view context = {});
  std::string expect_name(std::string_view what);
  // The first error of a statement counts; what follows it until the next statement does not.
  void fail(DiagKind kind, Span span, std::string message);
  void fail_here(std::string message) { fail(DiagKind::kSyntax, here(), std::move(message)); }
  void fail_expected(std::string_view what);
  bool report_error_token();
  const TokenInfo* statement_inside_brackets() const;
  // After a panic: moves to the next statement.
  void recover(size_t statement_begin);

  // ---- expressions (parser_expr.cpp, parser_atom.cpp) ----
  Expr* finish(Expr* expr);  // Sets the height; call when all children are in place.
  Expr* make(ExprKind kind, Span span, std::vector<Expr*> children = {});
  Expr* unsupported(Span span, std::string text, std::vector<Expr*> children = {});
  Expr* parse_expression_list();
  Expr* parse_starred();
  Expr* parse_named();
  Expr* parse_expression();
  Expr* parse_ternary();
  Expr* parse_bool(Token keyword);
  Expr* parse_not();
  Expr* parse_comparison();
  Expr* parse_binary(int min_precedence);
  Expr* parse_unary();
  Expr* parse_postfix();
  Expr* parse_call(Expr* callee, Span start);
  void parse_argument(Expr* call);
  Expr* parse_subscript(Expr* base, Span start);
  Expr* parse_slice();
  Expr* parse_lambda();
  Expr* parse_yield();
  Expr* parse_target();
  Expr* parse_target_list();
  Expr* parse_atom();
  Expr* parse_parenthesised();
  Expr* parse_list();
  Expr* parse_braces();
  Expr* parse_number();
  Expr* parse_strings();
  void parse_format_string(Span span, std::vector<Expr*>& parts, std::string& text);
  bool parse_format_field(size_t begin, size_t expression_end, size_t close,
                          std::vector<Expr*>& parts, std::string& text);
  void flush_text(Span span, std::vector<Expr*>& parts, std::string& text);
  bool decode(Span literal, size_t begin, size_t end, bool is_raw, std::string& text);
  bool at_comprehension() const;
  std::vector<Comprehension> parse_clauses();
  void open_bracket();
  bool close_bracket(Token close, std::string_view expected);

  // ---- statements (parser_stmt.cpp, parser_compound.cpp) ----
  void parse_block(std::vector<Stmt*>& out);
  void parse_statements(std::vector<Stmt*>& out);  // until the block ends
  void parse_statement(std::vector<Stmt*>& out);
  void parse_simple_line(std::vector<Stmt*>& out);
  Stmt* parse_simple();
  Stmt* parse_expression_statement();
  Stmt* parse_import();
  std::string parse_dotted_name();
  void check_target(const Expr& target, bool allow_tuple);
  Stmt* parse_if();
  Stmt* parse_while();
  Stmt* parse_for();
  Stmt* parse_with();
  Stmt* parse_function();
  Stmt* parse_class();
  void parse_else(std::vector<Stmt*>& out);
  void finish_header(Stmt* stmt, Span start);
  std::vector<Param> parse_params(Token close, bool with_annotations);
  void parse_param(std::vector<Param>& params, bool& keyword_only, bool with_annotations);
  bool is_refused_statement() const;
  void refuse_statement();

  // ---- module level (parser_module.cpp) ----
  // An open block of host code.
  struct Scope {
    enum class Kind : uint8_t { kModule, kConditional, kHandler, kFunction, kClass };
    Kind kind = Kind::kModule;
    Stmt* class_stmt = nullptr;  // kClass
  };
  void scan_statement();
  void scan_decorated();
  void scan_import();
  void scan_simple();
  void close_scope();
  void skip_line();
  void skip_block();
  bool line_assigns() const;
  bool is_jit_decorator(size_t ahead) const;
  void keep(Stmt* stmt);
  void parse_host_functions();

  Ast& ast_;
  std::string_view text_;
  Lexer lexer_;
  DiagSink* sink_;
  size_t index_ = 0;
  int depth_ = 0;
  int block_depth_ = 0;
  bool panic_ = false;
  bool in_kernel_ = false;   // Literals that only host code may hold are errors.
  bool may_restart_ = true;  // Off while positions of later tokens are remembered.
  uint32_t statement_column_ = 0;
  std::vector<Span> open_brackets_;
  std::set<uint32_t> reported_;  // positions of text errors that were reported
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  Scope pending_;  // of the block that may follow the current line
  std::map<std::string, size_t, std::less<>> host_functions_;  // name -> index of its `def`
  std::set<std::string, std::less<>> imported_names_;
  std::set<std::string, std::less<>> foreign_names_;  // imported from other compilers' packages
};

}  // namespace tilewright::dsl
