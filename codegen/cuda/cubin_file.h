// A cubin as the ELF file it is: sections, kernels and attribute records. What they mean is read by
// cubin.cpp (resources), sass.cpp (instructions) and line_table.cpp (source lines).
//
// A cubin may come damaged from a cache, so every offset is checked: reading past the end gives
// nothing, never a crash. All views point into the bytes that open() was given.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {

constexpr int kAbiOfCuda13 = 8;  // from then on cubins say which instructions are spills

template <class T>
bool read_at(std::string_view data, uint64_t offset, T& out) {
  if (offset > data.size() || sizeof(T) > data.size() - offset) return false;
  std::memcpy(&out, data.data() + offset, sizeof out);
  return true;
}

// The index'th 32-bit word, or 0 beyond the end.
inline uint32_t word_at(std::string_view data, size_t index) {
  uint32_t word = 0;
  return read_at(data, 4 * index, word) ? word : 0;
}

struct Section {
  std::string_view name;
  std::string_view bytes;  // empty for sections without file contents
  uint64_t size = 0;
  uint32_t type = 0, link = 0, info = 0;
};

struct Symbol {
  std::string_view name;
  uint64_t size = 0;
  bool is_kernel = false;
};

class CubinFile {
 public:
  // Nothing when this is no cubin, or one that is cut off.
  static std::optional<CubinFile> open(std::string_view data);

  int abi() const { return abi_; }
  int sm() const { return sm_; }
  // The section called prefix + name.
  const Section* find(std::string_view prefix, std::string_view name) const;
  const Symbol* kernel(std::string_view name) const;
  std::string_view symbol_name(uint32_t index) const {
    return index < symbols_.size() ? symbols_[index].name : std::string_view();
  }

 private:
  bool read_sections(std::string_view data);
  bool read_symbols();

  int abi_ = 0, sm_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

// Records of .nv.info sections: u8 format, u8 attribute, u16 value; with format 4 the value is the
// length of a payload that follows.
enum CubinAttribute : uint8_t {
  kFrameSize = 0x11,      // .nv.info: {symbol, bytes}
  kMinStackSize = 0x12,   // .nv.info: {symbol, bytes}
  kRegisterCount = 0x2f,  // .nv.info: {symbol, registers}
  kBarrierCount = 0x4c,   // .nv.info.<kernel>: in the value
  kSpills = 0x55,         // .nv.info.<kernel>: pairs {1, code offset}, one a spill (CUDA 13)
};

// Calls visit(attribute, value, payload) for each record; stops where a record is cut off.
template <class Visit>
void for_each_attribute(std::string_view bytes, Visit visit) {
  constexpr uint8_t kHasPayload = 4;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    uint8_t format = 0, attribute = 0;
    uint16_t value = 0;
    read_at(bytes, at, format);
    read_at(bytes, at + 1, attribute);
    read_at(bytes, at + 2, value);
    size_t length = format == kHasPayload ? value : 0;
    if (length > bytes.size() - at - 4) return;
    visit(attribute, value, bytes.substr(at + 4, length));
    at += 4 + length;
  }
}

// The error `bad-cubin`.
ErrorInfo bad_cubin(const Source& source, std::string_view why);

}  // namespace tilewright::cuda
