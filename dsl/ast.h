// The syntax tree of a kernel file: Python syntax, no meaning. Nodes live in deques owned by the
// Ast, so plain pointers stay valid as long as it does; a null pointer means "absent".
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/source.h"

namespace tilewright::dsl {

enum class ExprKind : uint8_t {
  kName,       // text
  kInt,        // int_bits (up to 64 bits unsigned); big literals are a bad-literal error
  kFloat,      // number
  kString,     // text, escapes resolved, adjacent literals joined
  kFString,    // children: kString parts and expressions in order
  kFormatted,  // children[0] with a conversion or format, text = "!r:.3f" (in kFString only)
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kTuple,
  kList,       // children
  kAttribute,  // children[0] . text
  kSubscript,  // children[0] [ children[1..] ]; a[i, j] has three children
  kSlice,      // children[0..2] = lower, upper, step; each may be null
  kCall,       // children[0] ( children[1..], keywords )
  kUnary,      // op children[0]: - + ~ not
  kBinary,     // children[0] op children[1]: + - * / // % ** @ & | ^ << >>
  kBoolOp,     // and / or over two or more children
  kCompare,    // children[0] ops[0] children[1] ops[1] …: == != < <= > >= is, is not, in, not in
  kTernary,    // children: condition, then-value, else-value
  kStarred,    // * children[0] (calls, tuples)
  kDoubleStarred,  // ** children[0] (calls)
  kLambda,         // params, children[0] = body
  kNamed,          // text := children[0]
  kDict,           // children: key, value, key, value …
  kListComp,       // children[0] = element, clauses
  kUnsupported,    // valid Python that no kernel may use; text names it ("a set display")
};

enum class Operator : uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMatMul,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kNeg,
  kPos,
  kInvert,
  kNot,
  kBoolAnd,
  kBoolOr,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIs,
  kIsNot,
  kIn,
  kNotIn
};
std::string_view operator_text(Operator op);  // "+", "//", "is not", …

struct Expr;

struct Keyword {
  std::string name;
  Span span;  // of the name
  Expr* value = nullptr;
};

struct Param {
  enum class Kind : uint8_t { kNormal, kKeywordOnly, kVarArgs, kVarKeywords };
  std::string name;
  Span span;
  Expr* annotation = nullptr;
  Expr* default_value = nullptr;
  Kind kind = Kind::kNormal;
};

// `for target in iterable if condition if condition …` of a comprehension.
struct Comprehension {
  Expr* target = nullptr;
  Expr* iterable = nullptr;
  std::vector<Expr*> conditions;
};

// The parser refuses trees higher than this, so recursive walks cannot exhaust the stack.
inline constexpr int kMaxExprHeight = 200;

struct Expr {
  ExprKind kind{};
  uint16_t height = 1;  // of the tree below and with this node
  Span span;
  std::string text;
  uint64_t int_bits = 0;
  double number = 0;
  Operator op = Operator::kNone;
  std::vector<Operator> ops;  // kCompare
  std::vector<Expr*> children;
  std::vector<Keyword> keywords;       // kCall
  std::vector<Param> params;           // kLambda
  std::vector<Comprehension> clauses;  // kListComp
};

enum class StmtKind : uint8_t {
  kExpr,       // value
  kAssign,     // targets (one or more, left to right) = value
  kAugAssign,  // targets[0] op= value
  kAnnAssign,  // targets[0] : annotation = value (value may be null)
  kIf,         // value = condition; body; orelse (an elif is a nested kIf)
  kFor,        // targets[0] in value; body; orelse
  kWhile,      // value; body; orelse
  kWith,       // value, targets[0] after `as` if any; body (several items are nested kWith)
  kReturn,     // value may be null
  kAssert,     // value, message may be null
  kRaise,      // value may be null
  kPass,
  kBreak,
  kContinue,
  kFunction,  // name, params, annotation (return), decorators, body
  kClass,     // name, body (functions and constants inside)
  kImport,    // imports
};

// `import a.b as c` -> {module "a.b", name "", alias "c"}; `from a import b as c` -> {"a", "b",
// "c"}; without `as`, alias is the bound name. `from a import *` has name "*".
struct ImportName {
  std::string module;
  std::string name;
  std::string alias;
  Span span;
};

struct Stmt {
  StmtKind kind{};
  Span span;  // whole statement; for compound ones the header line
  std::string name;
  Span name_span;
  Operator op = Operator::kNone;
  std::vector<Expr*> targets;
  Expr* value = nullptr;
  Expr* message = nullptr;
  Expr* annotation = nullptr;
  std::vector<Expr*> decorators;
  std::vector<Param> params;
  std::vector<Stmt*> body;
  std::vector<Stmt*> orelse;
  std::vector<ImportName> imports;
};

// One file. `body` holds, in order, what can matter to a kernel: imports, module-level assignments,
// jit functions, and classes with jit functions in them (parser.h says what is skipped).
// `host_functions` holds the module-level host functions that decorators of kernels reach by name
// (`configs=make_configs()`), as far as they could be parsed.
struct Ast {
  uint16_t file = Span::kNoFile;
  std::vector<Stmt*> body;
  std::vector<Stmt*> host_functions;

  Expr* new_expr(ExprKind kind, Span span) {
    Expr& e = exprs.emplace_back();
    e.kind = kind;
    e.span = span;
    return &e;
  }
  Stmt* new_stmt(StmtKind kind, Span span) {
    Stmt& s = stmts.emplace_back();
    s.kind = kind;
    s.span = span;
    return &s;
  }

  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
};

// S-expression dump, one node a line, stable; the `ast` stage of every tool.
std::string print(const Ast& ast);

}  // namespace tilewright::dsl
