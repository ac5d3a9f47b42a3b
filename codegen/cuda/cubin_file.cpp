#include "codegen/cuda/cubin_file.h"

#include <elf.h>
#include <fmt/format.h>

namespace tilewright::cuda {
namespace {

constexpr int kMachineCuda = 190;  // EM_CUDA
constexpr int kEntryFlag = 0x10;   // st_other of a kernel, as against a device function

// A NUL-terminated string in a string table.
std::string_view string_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<CubinFile> CubinFile::open(std::string_view data) {
  CubinFile cubin;
  Elf64_Ehdr header;
  if (!read_at(data, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  cubin.abi_ = header.e_ident[EI_ABIVERSION];
  cubin.sm_ = static_cast<int>(header.e_flags >> (cubin.abi_ >= kAbiOfCuda13 ? 8 : 0) & 0xff);
  if (!cubin.read_sections(data) || !cubin.read_symbols()) return std::nullopt;
  return cubin;
}

const Section* CubinFile::find(std::string_view prefix, std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name.starts_with(prefix) && section.name.substr(prefix.size()) == name)
      return &section;
  return nullptr;
}

const Symbol* CubinFile::kernel(std::string_view name) const {
  for (const Symbol& symbol : symbols_)
    if (symbol.is_kernel && symbol.name == name) return &symbol;
  return nullptr;
}

bool CubinFile::read_sections(std::string_view data) {
  Elf64_Ehdr header;
  read_at(data, 0, header);
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (size_t i = 0; i < headers.size(); ++i)
    if (header.e_shoff > data.size() ||
        !read_at(data, header.e_shoff + i * sizeof(Elf64_Shdr), headers[i]))
      return false;
  if (header.e_shstrndx >= headers.size()) return false;
  for (const Elf64_Shdr& h : headers) {
    Section section{{}, {}, h.sh_size, h.sh_type, h.sh_link, h.sh_info};
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

bool CubinFile::read_symbols() {
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

ErrorInfo bad_cubin(const Source& source, std::string_view why) {
  return make_error(DiagKind::kBadCubin,
                    fmt::format("the cubin of {} is damaged: {}", source.entry, why),
                    "compile the kernel again");
}

}  // namespace tilewright::cuda
