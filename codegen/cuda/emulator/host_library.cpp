// The cache is a folder of <hash>.so files: TILEWRIGHT_CACHE/emulated, or the user's cache folder,
// or the temporary folder if neither can be written. With TILEWRIGHT_CACHE=off a file is removed as
// soon as it is loaded. A file is written under another name and then renamed, and ends with a
// checksum of itself (an ELF file may have anything behind it), so that many processes, full disks
// and damaged entries cost a rebuild at most.
#include "codegen/cuda/emulator/host_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace fs = std::filesystem;

extern char** environ;

namespace tilewright::cuda {
namespace {

constexpr size_t kLogBytes = 16384;   // of the compiler's log, in an error
constexpr size_t kMaxEntries = 2000;  // of the cache; about 30 KB each
constexpr std::string_view kTrailer = "tilewright-emulated-1:";

// -O1 is the best sum of build and run time for kernels that run for milliseconds: such a kernel
// takes 0.16 s to build alone and 0.1 s with others; at -O0, with others, 0.03 s. Contraction,
// strict aliasing and overflow assumptions would make the text mean something else than on a GPU.
constexpr const char* kFlags[] = {
    "-std=c++17",
    "-w",
    "-shared",
    "-fPIC",
    "-fwrapv",
    "-fno-rtti",
    "-fno-exceptions",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-asynchronous-unwind-tables",
    "-x",
    "c++",
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != name.npos)
    return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  std::string path = environment("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string candidate = path.substr(begin, end - begin) + "/" + name;
    struct stat info;
    if (stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(candidate.c_str(), X_OK) == 0)
      return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

std::string hash(std::string_view text) {
  XXH128_hash_t value = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

// Path, size and time of the compiler's file: another compiler builds anew.
std::string identify(const std::string& compiler) {
  std::error_code error;
  fs::path file = fs::canonical(compiler, error);
  struct stat info {};
  if (error || stat(file.c_str(), &info) != 0) return compiler;
  return fmt::format("{}:{}:{}", file.string(), info.st_size, info.st_mtime);
}

bool is_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

bool is_cache_off() {
  return environment("TILEWRIGHT_CACHE") == "off";
}

std::optional<fs::path> cache_folder() {
  std::vector<fs::path> candidates;
  if (std::string root = environment("TILEWRIGHT_CACHE"); !root.empty() && root != "off")
    candidates.push_back(fs::path(root) / "emulated");
  else if (std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
    candidates.push_back(fs::path(cache) / "tilewright/emulated");
  else if (std::string home = environment("HOME"); !home.empty())
    candidates.push_back(fs::path(home) / ".cache/tilewright/emulated");
  if (is_cache_off()) candidates.clear();
  std::string temporary = environment("TMPDIR");
  candidates.push_back(fs::path(temporary.empty() ? "/tmp" : temporary) /
                       fmt::format("tilewright-emulated-{}", getuid()));
  for (const fs::path& folder : candidates)
    if (is_writable_folder(folder)) return folder;
  return std::nullopt;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool append_checksum(const fs::path& path) {
  std::string bytes = read_file(path);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << kTrailer << hash(bytes);
  out.close();
  return !out.fail();
}

bool is_whole(const fs::path& path) {
  constexpr size_t kTrailerBytes = kTrailer.size() + 32;
  std::string bytes = read_file(path);
  if (bytes.size() < kTrailerBytes) return false;
  std::string_view body(bytes.data(), bytes.size() - kTrailerBytes);
  return bytes.substr(body.size()) == std::string(kTrailer) + hash(body);
}

// Removes the older half once there are too many.
void prune(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == ".so")
      entries.emplace_back(fs::last_write_time(it->path(), ignored), it->path());
  }
  if (entries.size() <= kMaxEntries) return;
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i < entries.size() / 2; ++i) fs::remove(entries[i].second, error);
}

// A folder of its own for one build, removed with all it holds.
class BuildFolder {
 public:
  static std::optional<BuildFolder> create(const fs::path& parent) {
    std::string name = (parent / "build-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return std::nullopt;
    return BuildFolder(name);
  }
  BuildFolder(BuildFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit BuildFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Runs a program with both output streams in `log`; the exit status, or an error number as text.
Result<int> run_program(const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int result = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (result != 0)
    return make_error(DiagKind::kNoHostCompiler,
                      fmt::format("cannot start {}: {}", arguments[0], std::strerror(result)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return make_error(DiagKind::kIo,
                        fmt::format("lost {}: {}", arguments[0], std::strerror(errno)));
  return status;
}

const char* flag_of(Effort effort) {
  return effort == Effort::kQuickRun ? "-O1" : "-O0";
}

// Builds into `target`. The compiler sees the text under `name`, for its messages.
Status build(const std::string& compiler, const std::string& text, std::string_view name,
             Effort effort, const fs::path& folder, const fs::path& target) {
  std::optional<BuildFolder> work = BuildFolder::create(folder);
  if (!work) return make_error(DiagKind::kIo, fmt::format("cannot write to {}", folder.string()));
  fs::path source = work->path() / "kernel.cpp", object = work->path() / "kernel.so",
           log = work->path() / "log";
  std::ofstream out(source, std::ios::binary);
  out << text;
  out.close();
  if (out.fail()) return make_error(DiagKind::kIo, fmt::format("cannot write {}", source.string()));
  std::vector<std::string> command = {compiler, flag_of(effort)};
  command.insert(command.end(), std::begin(kFlags), std::end(kFlags));
  for (const char* last : {"kernel.cpp", "-o", "kernel.so", "-lm"}) command.push_back(last);
  command[command.size() - 4] = source.string();
  command[command.size() - 2] = object.string();
  TW_ASSIGN(int status, run_program(command, log));
  if (status != 0) {
    ErrorInfo error =
        make_error(DiagKind::kHostCompile,
                   fmt::format("{} refused the text of {} built for the host", compiler, name));
    error.details = fmt::format("error: {} [{}]\n{}", error.message, diag_name(error.kind),
                                read_file(log).substr(0, kLogBytes));
    return error;
  }
  std::error_code error;
  if (!append_checksum(object) || (fs::rename(object, target, error), error))
    return make_error(DiagKind::kIo, fmt::format("cannot write {}", target.string()));
  return {};
}

}  // namespace

Result<std::string> find_host_compiler() {
  std::string own = environment("TILEWRIGHT_CXX");
  if (!own.empty()) {
    if (std::optional<std::string> found = find_program(own)) return *found;
    return make_error(DiagKind::kNoHostCompiler,
                      fmt::format("TILEWRIGHT_CXX names {}, which is no program", own));
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (std::optional<std::string> found = find_program(name)) return *found;
  return make_error(DiagKind::kNoHostCompiler,
                    "emulation builds kernels with a C++ compiler, and there is no c++, g++ or "
                    "clang++ on the PATH",
                    "install one, or name it in TILEWRIGHT_CXX");
}

HostLibrary::~HostLibrary() {
  dlclose(handle_);
}

void* HostLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

Result<std::shared_ptr<HostLibrary>> load_host_library(const std::string& text,
                                                       std::string_view name, Effort effort) {
  TW_ASSIGN(std::string compiler, find_host_compiler());
  std::optional<fs::path> folder = cache_folder();
  if (!folder)
    return make_error(DiagKind::kIo, "no folder can be written for emulated kernels",
                      "set TILEWRIGHT_CACHE or TMPDIR to one that can");
  std::string key = identify(compiler) + " " + flag_of(effort);
  for (const char* flag : kFlags) key += std::string(" ") + flag;
  std::string file = hash(key + "\n" + text);
  static std::atomic<unsigned> uncached = 0;
  if (is_cache_off()) file += fmt::format("-{}-{}", getpid(), uncached++);
  fs::path path = *folder / (file + ".so");
  if (!is_whole(path)) {
    TW_TRY(build(compiler, text, name, effort, *folder, path));
    prune(*folder);
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (is_cache_off()) unlink(path.c_str());
  if (handle == nullptr) {
    const char* why = dlerror();
    return make_error(DiagKind::kIo, fmt::format("cannot load an emulated kernel: {}",
                                                 why ? why : "unknown reason"));
  }
  return std::shared_ptr<HostLibrary>(new HostLibrary(handle));
}

}  // namespace tilewright::cuda
