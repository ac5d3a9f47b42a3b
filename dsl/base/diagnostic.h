// Diagnostics: what the user is told about their text, with carets.
//
// A message is one lower-case sentence without a final period; it names the value and the limit
// and, where there is one, a legal alternative. Every kind is registered in diag_kinds.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/api.h"
#include "dsl/base/source.h"

namespace tilewright {

enum class DiagKind : uint16_t {
#define TW_DIAG(enumerator, name, doc) enumerator,
#include "dsl/base/diag_kinds.def"
#undef TW_DIAG
};

// The kebab-case name of a kind, e.g. "unknown-name".
TILEWRIGHT_API std::string_view diag_name(DiagKind kind);
// One sentence that explains the kind.
TILEWRIGHT_API std::string_view diag_doc(DiagKind kind);
int diag_kind_count();

// 'text', as messages quote what the user wrote.
std::string in_quotes(std::string_view text);

enum class Severity : uint8_t { kError, kWarning, kNote };

struct DiagNote {
  Span span;
  std::string message;
};

struct Diagnostic {
  DiagKind kind;
  Severity severity = Severity::kError;
  Span span;
  std::string message;
  std::vector<DiagNote> notes;
};

// Collects diagnostics; keeps at most kMaxErrors errors and counts the rest.
class DiagSink {
 public:
  static constexpr int kMaxErrors = 20;

  // Returns the stored diagnostic so that notes can be added.
  Diagnostic& error(DiagKind kind, Span span, std::string message);
  Diagnostic& warning(DiagKind kind, Span span, std::string message);
  bool has_errors() const { return error_count_ > 0; }
  int error_count() const { return error_count_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  // Sorts by file and position; stable.
  void sort();

 private:
  Diagnostic& add(DiagKind kind, Severity severity, Span span, std::string message);

  std::vector<Diagnostic> diagnostics_;
  Diagnostic overflow_{};
  int error_count_ = 0;
};

// "path:line:col: error: message [kind]", the source line, a caret line, then the notes.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources);
std::string render(const DiagSink& sink, const SourceMap& sources);

}  // namespace tilewright
