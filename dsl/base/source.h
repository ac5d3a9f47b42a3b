// Source text and positions in it. A Span is a byte range of one SourceFile; line and column are
// computed on demand from the file's line index (1-based, columns count bytes).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// Half-open byte range [begin, end) in the file with index `file` of a SourceMap.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint16_t file = kNoFile;

  static constexpr uint16_t kNoFile = 0xffff;
  bool valid() const { return file != kNoFile; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both.
Span join(Span a, Span b);

struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }
  LineColumn locate(uint32_t offset) const;
  // The text of a 1-based line, without its line break.
  std::string_view line(uint32_t number) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// The files of one compilation. Append-only; SourceFile addresses are stable.
class SourceMap {
 public:
  // Returns the index to put into spans. At most 65534 files.
  uint16_t add(std::string path, std::string text);
  const SourceFile& file(uint16_t index) const { return *files_[index]; }
  size_t size() const { return files_.size(); }
  std::string_view text(Span span) const;
  // "path:line:column", or "<unknown>" for a span without a file.
  std::string describe(Span span) const;

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

}  // namespace tilewright
