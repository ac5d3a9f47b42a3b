// Broken text never crashes the lexer or the parser, and what they return is well formed. Mutations
// are seeded; a failure prints the text.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "dsl/lexer.h"
#include "dsl/parser.h"

namespace tilewright::dsl {
namespace {

constexpr const char* kKernels[] = {"attention", "conv2d",  "dropout",   "layer_norm",
                                    "matmul",    "softmax", "vector_add"};

constexpr std::string_view kPieces[] = {
    "(",      ")",      "[",      "]",       "{",      "}",           ":",      ",",
    "=",      "==",     ":=",     "->",      "**",     "*",           "@jit\n", "def f",
    "class ", "if ",    "else:",  "elif ",   "for ",   "in ",         "not ",   "lambda ",
    "return", "\n",     "\n    ", "\n\t",    "  ",     "\\\n",        "\"",     "'",
    "\"\"\"", "f\"{",   "f'''",   "}\"",     "{{",     "#",           "0x",     "1e",
    "1_",     "\xff",   "\r\n",   "\r",      "\f",     ";",           "...",    ".",
    "await ", "yield ", "try:\n", "import ", "from ",  "with ",       "as ",    "match x:\n",
    "\\N{",   "\\x",    "!r",     "?",       "async ", "\xef\xbb\xbf"};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_expr(const Expr* expr) {
  if (expr == nullptr) return;
  ASSERT_LE(expr->height, kMaxExprHeight);
  for (const Expr* child : expr->children) {
    if (child == nullptr) {
      ASSERT_EQ(expr->kind, ExprKind::kSlice);
      continue;
    }
    ASSERT_LT(child->height, expr->height);
    check_expr(child);
  }
  for (const Keyword& keyword : expr->keywords) check_expr(keyword.value);
}

void check_body(const std::vector<Stmt*>& body, int depth) {
  ASSERT_LT(depth, 400);
  for (const Stmt* stmt : body) {
    for (const Expr* target : stmt->targets) check_expr(target);
    check_expr(stmt->value);
    check_body(stmt->body, depth + 1);
    check_body(stmt->orelse, depth + 1);
  }
}

void check_tokens(const Lexer& lexer, size_t size) {
  int blocks = 0;
  for (const TokenInfo& token : lexer.tokens()) {
    ASSERT_LE(token.begin, token.end);
    ASSERT_LE(token.end, size);
    blocks += token.kind == Token::kIndent ? 1 : token.kind == Token::kDedent ? -1 : 0;
    ASSERT_GE(blocks, 0);
  }
  ASSERT_EQ(blocks, 0);
  ASSERT_EQ(lexer.tokens().back().kind, Token::kEnd);
}

// Parses, checks what comes back, and returns the number of errors.
int parse(const std::string& text) {
  SourceMap sources;
  uint16_t file = sources.add("fuzz.py", text);
  check_tokens(Lexer(sources.file(file).text(), file), text.size());
  DiagSink sink;
  auto ast = parse_file(sources, file, sink);
  check_body(ast->body, 0);
  check_body(ast->host_functions, 0);
  print(*ast);
  for (const Diagnostic& diagnostic : sink.all()) {
    EXPECT_LE(diagnostic.span.begin, diagnostic.span.end);
    EXPECT_LE(diagnostic.span.end, text.size());
  }
  render(sink, sources);
  return sink.error_count();
}

std::string mutate(std::string text, std::mt19937& random) {
  auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  for (size_t n = 1 + below(6); n > 0; --n) {
    size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, below(12));
        break;
      case 2:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 3:  // a piece of the text again, elsewhere
        text.insert(at, text.substr(below(text.size()), below(80)));
        break;
      case 4: {  // a line with another indentation
        size_t line = text.find('\n', at);
        if (line != text.npos) text.insert(line + 1, std::string(below(9), ' '));
        break;
      }
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(ParserFuzz, MutatedKernels) {
  std::mt19937 random(20261130);
  for (const char* name : kKernels) {
    std::string text =
        read(std::string(TILEWRIGHT_SOURCE_DIR "/kernels_lib/") + name + "/kernel.py");
    ASSERT_FALSE(text.empty()) << name;
    ASSERT_EQ(parse(text), 0) << name;
    int with_errors = 0;
    for (int i = 0; i < 150; ++i) {
      std::string mutated = mutate(text, random);
      with_errors += parse(mutated) > 0;
      if (HasFatalFailure()) FAIL() << name << ", mutation " << i << ":\n" << mutated;
    }
    EXPECT_GT(with_errors, 15) << name;  // The mutations do reach the errors.
  }
}

TEST(ParserFuzz, RandomPieces) {
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    std::string text = i % 2 ? "@jit\ndef k(x):\n    " : "";
    for (size_t n = random() % 40; n > 0; --n) {
      text += kPieces[random() % std::size(kPieces)];
      if (random() % 3 == 0) text += "x ";
    }
    parse(text);
    if (HasFatalFailure()) FAIL() << text;
  }
}

std::string repeat(std::string_view piece, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += piece;
  return out;
}

struct Nesting {
  const char* what;
  std::string_view before, inside, after;
};

// Every way to nest: 20 levels parse, 20,000 of any are refused, not a crash.
TEST(ParserFuzz, DeepNestingIsRefused) {
  constexpr Nesting kNestings[] = {{"parentheses", "(", "x", ")"},
                                   {"lists", "[", "x", "]"},
                                   {"braces", "{1:", "x", "}"},
                                   {"calls", "f(", "x", ")"},
                                   {"subscripts", "x[", "x", "]"},
                                   {"minus", "-", "x", ""},
                                   {"not", "not ", "x", ""},
                                   {"power", "x**", "x", ""},
                                   {"lambda", "lambda: ", "x", ""},
                                   {"ternary", "x if x else ", "x", ""},
                                   {"sum", "x+", "x", ""},
                                   {"attributes", "", "x", ".x"},
                                   {"call chain", "", "x", "()"},
                                   {"walrus", "(x:=", "x", ")"},
                                   {"f-strings", "f'{", "x", "}'"},
                                   {"starred", "*", "x", ""},
                                   {"generators", "(x for x in ", "x", ")"}};
  for (const Nesting& nesting : kNestings) {
    auto text = [&](int depth) {
      return "@jit\ndef k(x):\n    y = " + repeat(nesting.before, depth) +
             std::string(nesting.inside) + repeat(nesting.after, depth) + "\n";
    };
    EXPECT_GT(parse(text(20000)), 0) << nesting.what;
    // `**x` is no expression, and f-strings nest a dozen deep at most.
    std::string_view what = nesting.what;
    if (what == "starred" || what == "f-strings") continue;
    EXPECT_EQ(parse(text(20)), 0) << what;
  }
}

TEST(ParserFuzz, DeepBlocksAreRefused) {
  std::string blocks, elifs = "    if x:\n        pass\n";
  for (int i = 0; i < 3000; ++i) {
    blocks += std::string(static_cast<size_t>(i) + 4, ' ') + "if x:\n";
    elifs += "    elif x:\n        pass\n";
  }
  EXPECT_GT(parse("@jit\ndef k(x):\n" + blocks), 0);
  EXPECT_GT(parse("@jit\ndef k(x):\n" + elifs), 0);
  // Host code may be as deep as it likes.
  EXPECT_EQ(parse("def host(x):\n" + blocks + std::string(3100, ' ') + "pass\n"), 0);
}

TEST(ParserFuzz, ManyErrorsEnd) {
  std::string text = "@jit\ndef k(x):\n" + repeat("    y = (1\n", 3000);
  EXPECT_LT(parse(text), 110);
}

}  // namespace
}  // namespace tilewright::dsl
