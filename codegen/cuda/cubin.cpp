// What a kernel needs, read from its cubin (an ELF file) without a GPU or NVIDIA's tools.
//
// The format is undocumented; the meaning of the attributes was found by comparing with
// `ptxas -v` (cubin_test.cpp does so for every target). A cubin may come damaged from a cache, so
// every offset is checked: damage gives the error `bad-cubin` or wrong numbers, never a crash.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {
namespace {

constexpr int kAbiOfCuda13 = 8;    // from then on cubins say which instructions are spills
constexpr int kMachineCuda = 190;  // EM_CUDA
constexpr int kEntryFlag = 0x10;   // st_other of a kernel, as against a device function
constexpr size_t kInstructionBytes = 16;
constexpr uint64_t kMaxShared = 1 << 20;  // more than any SM has

// Records of .nv.info sections: u8 format, u8 attribute, u16 value; with format 4 the value is the
// length of a payload that follows.
enum Attribute : uint8_t {
  kFrameSize = 0x11,      // .nv.info: {symbol, bytes}
  kMinStackSize = 0x12,   // .nv.info: {symbol, bytes}
  kRegisterCount = 0x2f,  // .nv.info: {symbol, registers}
  kBarrierCount = 0x4c,   // .nv.info.<kernel>: in the value
  kSpills = 0x55,         // .nv.info.<kernel>: pairs {1, code offset}, one a spill (CUDA 13)
};
constexpr uint8_t kHasPayload = 4;

template <class T>
bool read_at(std::string_view data, uint64_t offset, T& out) {
  if (offset > data.size() || sizeof(T) > data.size() - offset) return false;
  std::memcpy(&out, data.data() + offset, sizeof out);
  return true;
}

uint32_t word_at(std::string_view data, size_t index) {
  uint32_t word = 0;
  return read_at(data, 4 * index, word) ? word : 0;
}

struct Section {
  std::string_view name;
  std::string_view bytes;  // empty for sections without file contents
  uint64_t size = 0;
  uint32_t type = 0, link = 0;
};

struct Symbol {
  std::string_view name;
  uint64_t size = 0;
  bool is_kernel = false;
};

// A NUL-terminated string in a string table.
std::string_view string_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

class Cubin {
 public:
  static std::optional<Cubin> open(std::string_view data) {
    Cubin cubin;
    Elf64_Ehdr header;
    if (!read_at(data, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      return std::nullopt;
    cubin.abi_ = header.e_ident[EI_ABIVERSION];
    cubin.sm_ = static_cast<int>(header.e_flags >> (cubin.abi_ >= kAbiOfCuda13 ? 8 : 0) & 0xff);
    if (!cubin.read_sections(data, header) || !cubin.read_symbols()) return std::nullopt;
    return cubin;
  }

  int abi() const { return abi_; }
  int sm() const { return sm_; }
  const Section* find(std::string_view prefix, std::string_view name) const {
    for (const Section& section : sections_)
      if (section.name.starts_with(prefix) && section.name.substr(prefix.size()) == name)
        return &section;
    return nullptr;
  }
  const Symbol* kernel(std::string_view name) const {
    for (const Symbol& symbol : symbols_)
      if (symbol.is_kernel && symbol.name == name) return &symbol;
    return nullptr;
  }
  std::string_view symbol_name(uint32_t index) const {
    return index < symbols_.size() ? symbols_[index].name : std::string_view();
  }

 private:
  bool read_sections(std::string_view data, const Elf64_Ehdr& header) {
    std::vector<Elf64_Shdr> headers(header.e_shnum);
    for (size_t i = 0; i < headers.size(); ++i)
      if (header.e_shoff > data.size() ||
          !read_at(data, header.e_shoff + i * sizeof(Elf64_Shdr), headers[i]))
        return false;
    if (header.e_shstrndx >= headers.size()) return false;
    for (const Elf64_Shdr& h : headers) {
      Section section{{}, {}, h.sh_size, h.sh_type, h.sh_link};
      if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL) {
        if (h.sh_offset > data.size() || h.sh_size > data.size() - h.sh_offset) return false;
        section.bytes = data.substr(h.sh_offset, h.sh_size);
      }
      sections_.push_back(section);
    }
    for (size_t i = 0; i < headers.size(); ++i)
      sections_[i].name = string_at(sections_[header.e_shstrndx].bytes, headers[i].sh_name);
    return true;
  }

  bool read_symbols() {
    for (const Section& table : sections_) {
      if (table.type != SHT_SYMTAB) continue;
      if (table.link >= sections_.size()) return false;
      for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size(); at += sizeof(Elf64_Sym)) {
        Elf64_Sym entry;
        read_at(table.bytes, at, entry);
        bool is_kernel =
            ELF64_ST_TYPE(entry.st_info) == STT_FUNC && (entry.st_other & kEntryFlag) != 0;
        symbols_.push_back(
            {string_at(sections_[table.link].bytes, entry.st_name), entry.st_size, is_kernel});
      }
      return true;
    }
    return false;
  }

  int abi_ = 0, sm_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

// Calls visit(attribute, value, payload) for each record; stops where a record is cut off.
template <class Visit>
void for_each_attribute(std::string_view bytes, Visit visit) {
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

ErrorInfo bad_cubin(const Source& source, std::string_view why) {
  return make_error(DiagKind::kBadCubin,
                    fmt::format("the cubin of {} is damaged: {}", source.entry, why),
                    "compile the kernel again");
}

// Opcode names. The low nine bits name the instruction, the next three how its operands are given;
// rows with more than nine bits are told apart by all twelve. Found by compiling kernels of one
// instruction each.
struct Opcode {
  uint16_t bits;
  const char* name;
};
constexpr Opcode kOpcodes[] = {
    {0x5a7, "SYNCS_WAIT"}, {0x9a7, "SYNCS_ARRIVE"}, {0x03c, "HMMA"},    {0x037, "IMMA"},
    {0x03f, "DMMA"},       {0x07a, "QMMA"},         {0x1f0, "HGMMA"},   {0x1f3, "QGMMA"},
    {0x1c5, "WARPGROUP"},  {0x1c8, "USETMAXREG"},   {0x1b4, "UTMALDG"}, {0x1b5, "UTMASTG"},
    {0x1b2, "SYNCS_INIT"}, {0x1ae, "LDGSTS"},       {0x03b, "LDSM"},    {0x044, "STSM"},
    {0x183, "LDL"},        {0x187, "STL"},          {0x184, "LDS"},     {0x188, "STS"},
    {0x181, "LDG"},        {0x186, "STG"},          {0x11d, "BAR"},     {0x189, "SHFL"},
    {0x1a8, "ATOMG"},      {0x1a9, "ATOMG_CAS"},    {0x18e, "RED"},     {0x023, "FFMA"},
    {0x021, "FADD"},       {0x020, "FMUL"},         {0x108, "MUFU"},    {0x03e, "F2FP"},
    {0x118, "NOP"},        {0x147, "BRA"},          {0x14d, "EXIT"},    {0x15c, "BPT"},
};

std::string opcode_name(uint16_t opcode) {
  for (const Opcode& row : kOpcodes)
    if (row.bits == opcode || (row.bits < 0x200 && row.bits == (opcode & 0x1ff))) return row.name;
  return fmt::format("0x{:03x}", opcode & 0x1ff);
}

// The attributes of one kernel, from the common section and from its own.
void read_attributes(const Cubin& cubin, std::string_view kernel, Resources& out) {
  int frame = 0, min_stack = 0;
  if (const Section* info = cubin.find(".nv.info", ""))
    for_each_attribute(info->bytes, [&](uint8_t attribute, uint16_t, std::string_view payload) {
      if (cubin.symbol_name(word_at(payload, 0)) != kernel) return;
      int value = static_cast<int>(word_at(payload, 1));
      if (attribute == kRegisterCount) out.registers = value;
      if (attribute == kFrameSize) frame = value;
      if (attribute == kMinStackSize) min_stack = value;
    });
  if (const Section* info = cubin.find(".nv.info.", kernel))
    for_each_attribute(info->bytes,
                       [&](uint8_t attribute, uint16_t value, std::string_view payload) {
                         if (attribute == kBarrierCount) out.barriers = value;
                         if (attribute == kSpills)
                           out.spill_instructions += static_cast<int>(payload.size() / 8);
                       });
  out.stack_bytes = std::max(frame, min_stack);
}

// How often each instruction occurs in a kernel's code.
std::map<std::string, int> count_instructions(const Section& text) {
  std::map<std::string, int> mix;
  for (size_t at = 0; at + kInstructionBytes <= text.bytes.size(); at += kInstructionBytes) {
    uint16_t half = 0;
    read_at(text.bytes, at, half);
    ++mix[opcode_name(half & 0xfff)];
  }
  return mix;
}

// Static shared memory of a kernel. From sm_90 on its section starts with the system's 1 KB, which
// does not count against the block's limit.
int static_shared(const Cubin& cubin, std::string_view kernel) {
  const Section* section = cubin.find(".nv.shared.", kernel);
  if (!section) return 0;
  uint64_t bytes = std::min<uint64_t>(section->size, kMaxShared);
  uint64_t reserved = cubin.sm() >= 90 ? 1024 : 0;
  return static_cast<int>(bytes - std::min(bytes, reserved));
}

}  // namespace

Result<Resources> read_resources(std::string_view data, const Source& source) {
  std::optional<Cubin> cubin = Cubin::open(data);
  if (!cubin) return bad_cubin(source, "it is no CUDA binary, or is cut off");
  const Symbol* kernel = cubin->kernel(source.entry);
  if (!kernel) return bad_cubin(source, "it does not hold this kernel");
  Resources out;
  out.code_bytes = static_cast<int>(std::min<uint64_t>(kernel->size, data.size()));
  read_attributes(*cubin, source.entry, out);
  if (out.registers <= 0 || out.registers > 255)
    return bad_cubin(source, fmt::format("it names {} registers", out.registers));
  if (const Section* text = cubin->find(".text.", source.entry);
      cubin->abi() < kAbiOfCuda13 && text) {
    // Older cubins do not tell spills from local arrays, which emitted kernels do not have.
    std::map<std::string, int> mix = count_instructions(*text);
    out.spill_instructions = mix["LDL"] + mix["STL"];
  }
  out.shared_bytes = source.shared_bytes + static_shared(*cubin, source.entry);
  return out;
}

Result<std::map<std::string, int>> instruction_mix(std::string_view data, const Source& source) {
  std::optional<Cubin> cubin = Cubin::open(data);
  if (!cubin) return bad_cubin(source, "it is no CUDA binary, or is cut off");
  const Section* text = cubin->find(".text.", source.entry);
  if (!text) return bad_cubin(source, "it does not hold this kernel");
  return count_instructions(*text);
}

}  // namespace tilewright::cuda
