#include "runtime/compile/entry.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>

namespace tilewright::runtime {
namespace {

constexpr std::string_view kAliasMark = "alias-1", kEntryMark = "cubin-1";

// Length-prefixed fields; integers are eight bytes. The disk cache has checked the bytes, so a
// short field means another version's layout: the reader says no and the entry is a miss.
class Writer {
 public:
  Writer& text(std::string_view field) {
    number(static_cast<int64_t>(field.size()));
    bytes_ += field;
    return *this;
  }
  Writer& number(int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::string text() {
    auto size = static_cast<uint64_t>(number());
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    std::string field(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return field;
  }
  int64_t number() {
    int64_t value = 0;
    if (rest_.size() < sizeof value) {
      ok_ = false;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  int integer() { return static_cast<int>(number()); }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct FileIdentity {
  int64_t size = -1, seconds = -1, nanoseconds = -1;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The build id note of the shared object or program that holds `address`.
struct BuildId {
  uintptr_t address;
  std::string id;
};

void read_notes(const char* note, const char* end, std::string& id) {
  while (end - note >= static_cast<ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const char* name = note + sizeof header;
    const char* text = name + ((header.n_namesz + 3) & ~3u);
    const char* next = text + ((header.n_descsz + 3) & ~3u);
    if (next > end) return;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && !std::memcmp(name, "GNU", 4))
      id.assign(text, header.n_descsz);
    note = next;
  }
}

int find_build_id(dl_phdr_info* object, size_t, void* context) {
  auto& wanted = *static_cast<BuildId*>(context);
  bool ours = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    ours |= header.p_type == PT_LOAD && wanted.address >= begin &&
            wanted.address < begin + header.p_memsz;
  }
  if (!ours) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    read_notes(note, note + header.p_memsz, wanted.id);
  }
  return 1;
}

}  // namespace

// The linker's hash of everything that was linked, or the size and time of the file where there is
// none. Two builds that differ in one instruction differ here.
std::string_view compiler_identity() {
  static const std::string identity = [] {
    BuildId build{reinterpret_cast<uintptr_t>(&compiler_identity), {}};
    dl_iterate_phdr(find_build_id, &build);
    if (!build.id.empty()) return build.id;
    Dl_info info;
    std::string path =
        dladdr(reinterpret_cast<void*>(&compiler_identity), &info) != 0 && info.dli_fname
            ? info.dli_fname
            : "";
    FileIdentity file = identity_of(path);
    return fmt::format("{}/{}/{}.{}", path, file.size, file.seconds, file.nanoseconds);
  }();
  return identity;
}

cache::Hash128 request_key(const CompileRequest& request) {
  cache::Hasher hasher;
  hasher.add("request").add(compiler_identity());
  const SourceMap& sources = request.program->sources();
  for (uint16_t i = 0; i < sources.size(); ++i) hasher.add(sources.file(i).text());
  for (const auto& [name, value] : request.program->environment())
    hasher.add(name).add(to_string(value));
  hasher.add(request.kernel).add(request.specialization.key()).add(request.platform.name());
  if (request.platform.backend == Backend::kCuda) {
    hasher.add(variable("TILEWRIGHT_NVRTC"));
    // Paths show in line information only.
    hasher.add(int64_t{request.line_info});
    if (request.line_info && sources.size() > 0) hasher.add(sources.file(0).path());
  }
  return hasher.finish();
}

cache::Hash128 exact_key(const cuda::Source& source, const Target& target,
                         const cuda::NvrtcInfo& nvrtc, const cuda::Options& options) {
  static const cache::Hash128 prelude = cache::hash_of(cuda::device_prelude());
  cache::Hasher hasher;
  hasher.add("cubin").add(source.text).add(source.entry).add(int64_t{source.threads});
  hasher.add(int64_t{source.shared_bytes}).add(prelude.hex()).add(target.nvrtc);
  // The compiler's identity stands for the options it hands to NVRTC.
  hasher.add(int64_t{nvrtc.major}).add(int64_t{nvrtc.minor}).add(compiler_identity());
  return hasher.add(int64_t{options.line_info}).finish();
}

std::optional<cache::Hash128> load_alias(cache::DiskCache& disk, const cache::Hash128& fast) {
  std::optional<std::string> bytes = disk.load(fast);
  if (!bytes) return std::nullopt;
  Reader reader(*bytes);
  if (reader.text() != kAliasMark) return std::nullopt;
  cache::Hash128 exact;
  exact.high = static_cast<uint64_t>(reader.number());
  exact.low = static_cast<uint64_t>(reader.number());
  std::string library = reader.text();
  FileIdentity made_by{reader.number(), reader.number(), reader.number()};
  if (!reader.ok()) return std::nullopt;
  // An absent library cannot be newer: cubins outlive the NVRTC that made them.
  FileIdentity now = identity_of(library);
  if (now != FileIdentity{} && now != made_by) return std::nullopt;
  return exact;
}

void store_alias(cache::DiskCache& disk, const cache::Hash128& fast, const cache::Hash128& exact,
                 const cuda::NvrtcInfo& nvrtc) {
  FileIdentity file = identity_of(nvrtc.library);
  Writer writer;
  writer.text(kAliasMark).number(static_cast<int64_t>(exact.high));
  writer.number(static_cast<int64_t>(exact.low)).text(nvrtc.library);
  writer.number(file.size).number(file.seconds).number(file.nanoseconds);
  disk.store(fast, writer.bytes());
}

bool load_entry(cache::DiskCache& disk, const cache::Hash128& exact, CompiledKernel& out) {
  std::optional<std::string> bytes = disk.load(exact);
  if (!bytes) return false;
  Reader reader(*bytes);
  if (reader.text() != kEntryMark) return false;
  cuda::Source source;
  source.text = out.source.text;
  source.entry = reader.text();
  source.threads = reader.integer();
  source.shared_bytes = reader.integer();
  int64_t count = reader.number();
  if (count < 0 || count > static_cast<int64_t>(launch::Function::kMaxParameters)) return false;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<ir::Type> type = ir::parse_type(reader.text());
    if (!type) return false;
    source.params.push_back(*type);
  }
  cuda::Resources resources;
  resources.registers = reader.integer();
  resources.shared_bytes = reader.integer();
  resources.stack_bytes = reader.integer();
  resources.spill_instructions = reader.integer();
  resources.code_bytes = reader.integer();
  resources.barriers = reader.integer();
  std::string log = reader.text(), cubin = reader.text();
  if (!reader.ok()) return false;
  out.function = std::make_unique<launch::Function>(std::move(cubin), source.entry, source.threads,
                                                    source.shared_bytes);
  out.params = source.params;
  out.source = std::move(source);
  out.resources = resources;
  out.log = std::move(log);
  out.from_disk = true;
  return true;
}

void store_entry(cache::DiskCache& disk, const cache::Hash128& exact,
                 const CompiledKernel& kernel) {
  if (!disk.enabled()) return;
  Writer writer;
  writer.text(kEntryMark).text(kernel.source.entry);
  writer.number(kernel.source.threads).number(kernel.source.shared_bytes);
  writer.number(static_cast<int64_t>(kernel.source.params.size()));
  for (const ir::Type& type : kernel.source.params) writer.text(ir::to_string(type));
  const cuda::Resources& r = kernel.resources;
  writer.number(r.registers).number(r.shared_bytes).number(r.stack_bytes);
  writer.number(r.spill_instructions).number(r.code_bytes).number(r.barriers);
  writer.text(kernel.log).text(kernel.function->cubin());
  disk.store(exact, writer.bytes());
}

}  // namespace tilewright::runtime
