#include <algorithm>

#include "dsl/base/check.h"
#include "dsl/base/diagnostic.h"
#include "dsl/base/result.h"
#include "dsl/base/source.h"

namespace tilewright {

void throw_internal_error(const char* file, int line, const std::string& message) {
  std::string_view path = file;
  if (size_t slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  throw InternalError("internal error at " + std::string(path) + ":" + std::to_string(line) + ": " +
                      message);
}

// ---- source ----

Span join(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.file != b.file) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end), a.file};
}

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), line_starts_{0} {
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
}

LineColumn SourceFile::locate(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto index = static_cast<uint32_t>(after - line_starts_.begin());
  return {index, offset - line_starts_[index - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  size_t begin = line_starts_[number - 1];
  size_t end = number < line_starts_.size() ? line_starts_[number] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint16_t SourceMap::add(std::string path, std::string text) {
  TW_CHECK(files_.size() < Span::kNoFile, "too many source files");
  files_.push_back(std::make_unique<SourceFile>(std::move(path), std::move(text)));
  return static_cast<uint16_t>(files_.size() - 1);
}

std::string_view SourceMap::text(Span span) const {
  if (!span.valid() || span.file >= files_.size()) return {};
  std::string_view all = files_[span.file]->text();
  size_t begin = std::min<size_t>(span.begin, all.size());
  return all.substr(begin, span.end > span.begin ? span.end - span.begin : 0);
}

std::string SourceMap::describe(Span span) const {
  if (!span.valid() || span.file >= files_.size()) return "<unknown>";
  LineColumn at = files_[span.file]->locate(span.begin);
  return files_[span.file]->path() + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column);
}

// ---- diagnostics ----

namespace {

struct KindRow {
  std::string_view name;
  std::string_view doc;
};

constexpr KindRow kKinds[] = {
#define TW_DIAG(enumerator, name, doc) {name, doc},
#include "dsl/base/diag_kinds.def"
#undef TW_DIAG
};

// The source line and a caret line under the part of the span that lies on it.
void append_excerpt(std::string& out, Span span, const SourceMap& sources) {
  if (!span.valid() || span.file >= sources.size()) return;
  const SourceFile& file = sources.file(span.file);
  LineColumn at = file.locate(span.begin);
  std::string_view line = file.line(at.line);
  out += "  ";
  out += line;
  out += "\n  ";
  size_t column = at.column - 1;
  for (size_t i = 0; i < column; ++i) out += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  size_t length = span.end > span.begin ? span.end - span.begin : 1;
  size_t room = line.size() > column ? line.size() - column : 1;
  out += '^';
  out.append(std::min(length, room) - 1, '~');
  out += '\n';
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

}  // namespace

std::string_view diag_name(DiagKind kind) {
  return kKinds[static_cast<size_t>(kind)].name;
}
std::string_view diag_doc(DiagKind kind) {
  return kKinds[static_cast<size_t>(kind)].doc;
}
int diag_kind_count() {
  return static_cast<int>(std::size(kKinds));
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  out += text;
  out += '\'';
  return out;
}

Diagnostic& DiagSink::add(DiagKind kind, Severity severity, Span span, std::string message) {
  TW_CHECK(!message.empty() && message.back() != '.' && message.find('\n') == message.npos,
           "a diagnostic message is one line without a final period: " + message);
  if (severity == Severity::kError && ++error_count_ > kMaxErrors) return overflow_ = {};
  return diagnostics_.emplace_back(Diagnostic{kind, severity, span, std::move(message), {}});
}

Diagnostic& DiagSink::error(DiagKind kind, Span span, std::string message) {
  return add(kind, Severity::kError, span, std::move(message));
}

Diagnostic& DiagSink::warning(DiagKind kind, Span span, std::string message) {
  return add(kind, Severity::kWarning, span, std::move(message));
}

void DiagSink::sort() {
  std::stable_sort(
      diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
      });
}

std::string render(const Diagnostic& diagnostic, const SourceMap& sources) {
  std::string out = sources.describe(diagnostic.span);
  out += ": ";
  out += severity_name(diagnostic.severity);
  out += ": ";
  out += diagnostic.message;
  out += " [";
  out += diag_name(diagnostic.kind);
  out += "]\n";
  append_excerpt(out, diagnostic.span, sources);
  for (const DiagNote& note : diagnostic.notes) {
    out += sources.describe(note.span);
    out += ": note: ";
    out += note.message;
    out += '\n';
    append_excerpt(out, note.span, sources);
  }
  return out;
}

std::string render(const DiagSink& sink, const SourceMap& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : sink.all()) out += render(diagnostic, sources);
  if (int more = sink.error_count() - DiagSink::kMaxErrors; more > 0) {
    out += '(';
    out += std::to_string(more);
    out += " more errors)\n";
  }
  return out;
}

// ---- result ----

std::string ErrorInfo::text() const {
  std::string out = details;
  if (out.empty()) out = "error: " + message + " [" + std::string(diag_name(kind)) + "]";
  while (!out.empty() && out.back() == '\n') out.pop_back();
  if (!hint.empty()) out += "\nhint: " + hint;
  return out;
}

}  // namespace tilewright
