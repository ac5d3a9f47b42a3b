#include "codegen/cuda/line_table.h"

#include <algorithm>

#include "codegen/cuda/cubin_file.h"

namespace tilewright::cuda {
namespace {

constexpr uint8_t kInlinedCall = 0x90;  // extended opcode: row (from 1; 0: none), name
constexpr int kMaxInlining = 64;        // deeper chains are damage

// Reads on from a place in a section; past the end it gives zeros and says so.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return at_ >= bytes_.size() || failed_; }
  bool failed() const { return failed_; }
  size_t at() const { return at_; }
  void seek(size_t at) { at_ = at; }

  template <class T>
  T fixed() {
    T value{};
    if (!read_at(bytes_, at_, value)) failed_ = true;
    at_ += sizeof(T);
    return value;
  }
  uint8_t byte() { return fixed<uint8_t>(); }
  uint64_t uleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t b = byte();
      value |= uint64_t{b & 0x7fu} << shift;
      if ((b & 0x80) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64;) {
      uint8_t b = byte();
      value |= uint64_t{b & 0x7fu} << shift;
      shift += 7;
      if (b & 0x80) continue;
      if (shift < 64 && (b & 0x40)) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    failed_ = true;
    return 0;
  }
  std::string text() {
    std::string out;
    for (uint8_t c = byte(); c != 0 && !failed_; c = byte()) out += static_cast<char>(c);
    return out;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

struct Header {
  uint8_t instruction_bytes = 1, line_range = 1, opcode_base = 1;
  int8_t line_base = 0;
  std::vector<uint8_t> operands;  // of the standard opcodes, from 1
  std::vector<std::string> files;
  size_t end = 0;  // of the unit
};

std::optional<Header> read_header(Reader& in, size_t size) {
  Header out;
  size_t start = in.at();
  uint64_t length = in.fixed<uint32_t>();
  if (length == 0 || length > size - std::min(size, start + 4)) return std::nullopt;
  out.end = start + 4 + length;
  if (in.fixed<uint16_t>() != 2) return std::nullopt;
  uint64_t header_length = in.fixed<uint32_t>();
  size_t program = in.at() + header_length;
  out.instruction_bytes = in.byte();
  in.byte();  // is_stmt by default
  out.line_base = static_cast<int8_t>(in.byte());
  out.line_range = in.byte();
  out.opcode_base = in.byte();
  for (int i = 1; i < out.opcode_base; ++i) out.operands.push_back(in.byte());
  std::vector<std::string> folders;
  for (std::string name = in.text(); !name.empty(); name = in.text()) folders.push_back(name);
  for (std::string name = in.text(); !name.empty(); name = in.text()) {
    uint64_t folder = in.uleb();
    in.uleb();  // time
    in.uleb();  // size
    bool relative = !name.starts_with("/") && folder >= 1 && folder <= folders.size();
    out.files.push_back(relative ? folders[folder - 1] + "/" + name : name);
  }
  if (in.failed() || out.line_range == 0 || program > size) return std::nullopt;
  in.seek(program);
  return out;
}

struct RawRow {
  uint64_t offset = 0;
  uint64_t file = 0;
  int64_t line = 0;
  uint64_t context = 0;
};

// Runs one unit's line program.
std::vector<RawRow> run_program(Reader& in, const Header& header) {
  std::vector<RawRow> rows;
  const RawRow initial{0, 1, 1, 0};
  RawRow now = initial;
  auto emit = [&] { rows.push_back(now); };
  auto advance = [&](uint64_t by) { now.offset += by * header.instruction_bytes; };
  while (!in.done() && in.at() < header.end) {
    uint8_t op = in.byte();
    if (op >= header.opcode_base) {
      int adjusted = op - header.opcode_base;
      advance(static_cast<uint64_t>(adjusted / header.line_range));
      now.line += header.line_base + adjusted % header.line_range;
      emit();
    } else if (op == 0) {
      uint64_t length = in.uleb();
      size_t next = in.at() + length;
      uint8_t extended = in.byte();
      if (extended == 1) now = initial;                      // end of a sequence
      if (extended == 2) now.offset = in.fixed<uint64_t>();  // set address
      if (extended == kInlinedCall) now.context = in.uleb();
      if (next > header.end) break;
      in.seek(next);
    } else if (op == 1) {
      emit();
    } else if (op == 2) {
      advance(in.uleb());
    } else if (op == 3) {
      now.line += in.sleb();
    } else if (op == 4) {
      now.file = in.uleb();
    } else if (op == 8) {
      advance(static_cast<uint64_t>((255 - header.opcode_base) / header.line_range));
    } else if (op == 9) {
      now.offset += in.fixed<uint16_t>();
    } else {
      for (int i = 0; i < header.operands[static_cast<size_t>(op - 1)]; ++i) in.uleb();
    }
  }
  return rows;
}

}  // namespace

std::vector<LineRow> read_lines(std::string_view data) {
  std::optional<CubinFile> cubin = CubinFile::open(data);
  const Section* section = cubin ? cubin->find(".debug_line", "") : nullptr;
  if (!section) return {};
  Reader in(section->bytes);
  std::vector<LineRow> rows;
  while (!in.done()) {
    std::optional<Header> header = read_header(in, section->bytes.size());
    if (!header) break;
    std::vector<RawRow> raw = run_program(in, *header);
    for (const RawRow& row : raw) {
      const RawRow* outermost = &row;
      for (int depth = 0; outermost->context >= 1 && depth < kMaxInlining; ++depth) {
        if (outermost->context > raw.size()) break;
        outermost = &raw[outermost->context - 1];
      }
      if (outermost->file < 1 || outermost->file > header->files.size()) continue;
      rows.push_back({static_cast<uint32_t>(row.offset), header->files[outermost->file - 1],
                      static_cast<int>(outermost->line)});
    }
    in.seek(header->end);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LineRow& a, const LineRow& b) { return a.offset < b.offset; });
  return rows;
}

const LineRow* line_at(const std::vector<LineRow>& rows, uint32_t offset) {
  auto after = std::upper_bound(rows.begin(), rows.end(), offset,
                                [](uint32_t at, const LineRow& row) { return at < row.offset; });
  return after == rows.begin() ? nullptr : &*std::prev(after);
}

}  // namespace tilewright::cuda
