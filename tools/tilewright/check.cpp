// `tilewright check`.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/common/terminal.h"
#include "tools/tilewright/commands.h"

namespace tilewright::tools {
namespace {

using nlohmann::json;

json position(const SourceMap& sources, Span span) {
  if (!span.valid()) return nullptr;
  LineColumn at = sources.file(span.file).locate(span.begin);
  return {{"path", sources.file(span.file).path()}, {"line", at.line}, {"column", at.column}};
}

json to_json(const Diagnostic& diagnostic, const SourceMap& sources) {
  json notes = json::array();
  for (const DiagNote& note : diagnostic.notes)
    notes.push_back({{"message", note.message}, {"at", position(sources, note.span)}});
  return {{"kind", diag_name(diagnostic.kind)},
          {"severity", diagnostic.severity == Severity::kWarning ? "warning" : "error"},
          {"message", diagnostic.message},
          {"at", position(sources, diagnostic.span)},
          {"notes", notes}};
}

// Checks one file; adds its rows to `out`. True when everything is ok.
bool check_file(const std::string& path, bool as_json, json& out) {
  auto text = read_text_file(path);
  auto program = text ? frontend::Program::load(path, *text)
                      : Result<std::shared_ptr<const frontend::Program>>(text.error());
  if (!program) {
    if (as_json)
      out.push_back({{"file", path}, {"ok", false}, {"error", program.error().text()}});
    else
      std::printf("%s\n", program.error().text().c_str());
    return false;
  }
  bool ok = true;
  for (const frontend::CheckReport& report : frontend::check(**program)) {
    bool good = !report.sink.has_errors();
    ok &= good;
    if (as_json) {
      json diagnostics = json::array();
      for (const Diagnostic& d : report.sink.all())
        diagnostics.push_back(to_json(d, (*program)->sources()));
      out.push_back(
          {{"file", path}, {"kernel", report.kernel}, {"ok", good}, {"diagnostics", diagnostics}});
    } else {
      std::printf("%s::%s %s\n%s", path.c_str(), report.kernel.c_str(), good ? "ok" : "has errors",
                  render(report.sink, (*program)->sources()).c_str());
    }
  }
  return ok;
}

}  // namespace

int run_check(const CheckOptions& options) {
  json out = json::array();
  bool ok = true;
  for (const std::string& path : options.files) ok &= check_file(path, options.json, out);
  if (options.json) std::printf("%s\n", out.dump(2).c_str());
  return ok ? 0 : 1;
}

}  // namespace tilewright::tools
