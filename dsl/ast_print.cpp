// The S-expression form of the tree: one node a line, children two columns deeper.
#include <charconv>

#include "dsl/ast.h"

namespace tilewright::dsl {
namespace {

constexpr std::string_view kOperatorTexts[] = {
    "",   "+",  "-",  "*",  "/", "//", "%",  "**",     "@",   "&",
    "|",  "^",  "<<", ">>", "-", "+",  "~",  "not",    "and", "or",
    "==", "!=", "<",  "<=", ">", ">=", "is", "is not", "in",  "not in"};
static_assert(std::size(kOperatorTexts) == static_cast<size_t>(Operator::kNotIn) + 1);

constexpr std::string_view kExprNames[] = {
    "name",      "int",       "float",     "string",     "fstring",        "formatted",
    "True",      "False",     "None",      "...",        "tuple",          "list",
    "attribute", "subscript", "slice",     "call",       "unary",          "binary",
    "bool",      "compare",   "ternary",   "starred",    "double_starred", "lambda",
    "named",     "dict",      "list_comp", "unsupported"};
static_assert(std::size(kExprNames) == static_cast<size_t>(ExprKind::kUnsupported) + 1);

constexpr std::string_view kStmtNames[] = {
    "expr",  "assign",   "aug_assign", "ann_assign", "if",    "for",
    "while", "with",     "return",     "assert",     "raise", "pass",
    "break", "continue", "function",   "class",      "import"};
static_assert(std::size(kStmtNames) == static_cast<size_t>(StmtKind::kImport) + 1);

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number_text(double number) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return {buffer, end};
}

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void module(const Ast& ast) {
    for (const Stmt* stmt : ast.body) stmt_node(*stmt);
    if (ast.host_functions.empty()) return;
    open("host");
    for (const Stmt* stmt : ast.host_functions) stmt_node(*stmt);
    close();
  }

 private:
  // Opens a node; nodes at depth 0 end with a line break.
  void open(std::string_view head) {
    if (depth_ > 0) {
      out_ += '\n';
      out_.append(static_cast<size_t>(depth_) * 2, ' ');
    }
    out_ += '(';
    out_ += head;
    ++depth_;
  }
  void word(std::string_view text) {
    out_ += ' ';
    out_ += text;
  }
  void close() {
    out_ += ')';
    if (--depth_ == 0) out_ += '\n';
  }
  void labelled(std::string_view label, const Expr* value) {
    if (value == nullptr) return;
    open(label);
    expr(value);
    close();
  }
  void block(std::string_view label, const std::vector<Stmt*>& body) {
    if (body.empty()) return;
    open(label);
    for (const Stmt* stmt : body) stmt_node(*stmt);
    close();
  }

  void param(const Param& param) {
    constexpr std::string_view kHeads[] = {"param", "keyword_param", "var_args", "var_keywords"};
    open(kHeads[static_cast<size_t>(param.kind)]);
    word(param.name);
    labelled("annotation", param.annotation);
    labelled("default", param.default_value);
    close();
  }

  void expr(const Expr* e) {
    if (e == nullptr) {
      open("absent");
      return close();
    }
    open(kExprNames[static_cast<size_t>(e->kind)]);
    switch (e->kind) {
      case ExprKind::kInt:
        word(std::to_string(e->int_bits));
        break;
      case ExprKind::kFloat:
        word(number_text(e->number));
        break;
      case ExprKind::kString:
      case ExprKind::kFormatted:
      case ExprKind::kUnsupported:
        word(quoted(e->text));
        break;
      case ExprKind::kUnary:
      case ExprKind::kBinary:
      case ExprKind::kBoolOp:
        word(operator_text(e->op));
        break;
      default:
        if (!e->text.empty()) word(e->text);
        for (Operator op : e->ops) word(operator_text(op));
    }
    for (const Param& p : e->params) param(p);
    for (const Expr* child : e->children) expr(child);
    for (const Keyword& keyword : e->keywords) labelled(keyword.name + " =", keyword.value);
    for (const Comprehension& clause : e->clauses) {
      open("for");
      expr(clause.target);
      expr(clause.iterable);
      for (const Expr* condition : clause.conditions) labelled("if", condition);
      close();
    }
    close();
  }

  void stmt_node(const Stmt& stmt) {
    open(kStmtNames[static_cast<size_t>(stmt.kind)]);
    if (!stmt.name.empty()) word(stmt.name);
    if (stmt.op != Operator::kNone) word(operator_text(stmt.op));
    for (const ImportName& import : stmt.imports) {
      open("from");
      word(import.module);
      if (!import.name.empty()) word(import.name);
      word("as " + import.alias);
      close();
    }
    for (const Expr* decorator : stmt.decorators) labelled("decorator", decorator);
    for (const Param& p : stmt.params) param(p);
    for (const Expr* target : stmt.targets) labelled("target", target);
    labelled(stmt.kind == StmtKind::kFunction ? "returns" : "annotation", stmt.annotation);
    if (stmt.value) expr(stmt.value);
    labelled("message", stmt.message);
    block("body", stmt.body);
    block("orelse", stmt.orelse);
    close();
  }

  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string_view operator_text(Operator op) {
  return kOperatorTexts[static_cast<size_t>(op)];
}

std::string print(const Ast& ast) {
  Printer printer;
  printer.module(ast);
  return printer.take();
}

}  // namespace tilewright::dsl
