#include "codegen/cuda/disassembler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

extern char** environ;

namespace tilewright::cuda {
namespace {

constexpr std::string_view kTools[] = {"nvdisasm", "cuobjdump"};
constexpr size_t kLogBytes = 2000;  // of a tool's complaint, in an error

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_program(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  auto add = [&](std::string folder) {
    if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(std::move(folder));
  };
  std::string path = variable("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) add(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string folder = variable(home); !folder.empty()) add(folder + "/bin");
  add("/usr/local/cuda/bin");
  return out;
}

// A file that goes away with its owner.
class TemporaryFile {
 public:
  static Result<TemporaryFile> create() {
    std::string folder = variable("TMPDIR");
    std::string path = (folder.empty() ? "/tmp" : folder) + "/tilewright-XXXXXX";
    int descriptor = mkstemp(path.data());
    if (descriptor < 0) return make_error(DiagKind::kIo, fmt::format("{} cannot be created", path));
    close(descriptor);
    return TemporaryFile(std::move(path));
  }
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

// The exit status, or -1 when the program did not start or was killed.
int run(const std::vector<std::string>& command, const std::string& output) {
  std::vector<char*> pointers;
  for (const std::string& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int failed = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> find_disassembler() {
  std::string named = variable("TILEWRIGHT_NVDISASM"), searched;
  if (!named.empty()) {
    if (is_program(named)) return named;
    searched = fmt::format("  {} (TILEWRIGHT_NVDISASM)\n", named);
  } else {
    for (std::string_view tool : kTools)
      for (const std::string& folder : folders()) {
        std::string path = fmt::format("{}/{}", folder, tool);
        if (is_program(path)) return path;
        searched += fmt::format("  {}\n", path);
      }
  }
  ErrorInfo error =
      make_error(DiagKind::kNoDisassembler, "neither nvdisasm nor cuobjdump was found",
                 "install the CUDA toolkit, or name a program in TILEWRIGHT_NVDISASM");
  error.details =
      fmt::format("error: {} [{}]\nsearched:\n{}", error.message, diag_name(error.kind), searched);
  return error;
}

Result<std::string> disassemble(std::string_view cubin, const DisassemblyOptions& options) {
  TW_ASSIGN(std::string tool, find_disassembler());
  TW_ASSIGN(auto input, TemporaryFile::create());
  TW_ASSIGN(auto output, TemporaryFile::create());
  std::ofstream file(input.path(), std::ios::binary);
  file.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
  file.close();
  if (!file) return make_error(DiagKind::kIo, fmt::format("{} cannot be written", input.path()));
  std::vector<std::string> command = {tool};
  if (tool.ends_with("cuobjdump")) {
    command.emplace_back("-sass");
  } else {
    command.emplace_back("-c");  // code only
    if (options.encoding) command.emplace_back("-hex");
    if (options.line_info) command.emplace_back("-gi");
  }
  command.push_back(input.path());
  int status = run(command, output.path());
  std::string text = output.read();
  if (status != 0)
    return make_error(DiagKind::kBadCubin,
                      fmt::format("{} failed: {}", tool, text.substr(0, kLogBytes)));
  return text;
}

}  // namespace tilewright::cuda
