// Modes of dsl/: `lex` (one token a line), `parse` (the tree, then diagnostics), `syntax`
// (diagnostics only).
#include "dsl/lexer.h"
#include "dsl/parser.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {

std::string run_lex(const Case& golden_case) {
  SourceMap sources;
  uint16_t file = sources.add(golden_case.path, golden_case.input);
  std::string_view text = sources.file(file).text();
  dsl::Lexer lexer(text, file);
  std::string out;
  for (const dsl::TokenInfo& token : lexer.tokens()) {
    LineColumn at = sources.file(file).locate(token.begin);
    out += std::to_string(at.line) + ":" + std::to_string(at.column) + " ";
    out += dsl::token_text(token.kind);
    std::string_view spelling = text.substr(token.begin, token.end - token.begin);
    bool has_text = token.kind >= dsl::Token::kName && token.kind <= dsl::Token::kFString;
    if (has_text && spelling.find('\n') == spelling.npos) (out += ' ') += spelling;
    if (token.kind == dsl::Token::kError) out += ": " + lexer.errors()[token.error].message;
    out += '\n';
  }
  return out;
}

std::string run_parse(const Case& golden_case) {
  SourceMap sources;
  uint16_t file = sources.add(golden_case.path, golden_case.input);
  DiagSink sink;
  auto ast = dsl::parse_file(sources, file, sink);
  return dsl::print(*ast) + render(sink, sources);
}

std::string run_syntax(const Case& golden_case) {
  SourceMap sources;
  uint16_t file = sources.add(golden_case.path, golden_case.input);
  DiagSink sink;
  dsl::parse_file(sources, file, sink);
  return sink.all().empty() ? "ok\n" : render(sink, sources);
}

}  // namespace tilewright::golden
