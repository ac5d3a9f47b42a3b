// Runs (or blesses) golden files: golden [--bless] PATH…; a folder means every file below it whose
// first line starts with "# test:".
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "tests/golden/golden.h"

namespace fs = std::filesystem;
namespace tilewright::golden {
namespace {

constexpr std::string_view kMarker = "# --- expected\n";

const std::map<std::string, std::function<std::string(const Case&)>, std::less<>> kModes = {
#define TW_GOLDEN_MODE(name) {#name, run_##name},
#include "tests/golden/modes.def"
#undef TW_GOLDEN_MODE
};

struct File {
  std::string header;
  std::string mode;
  Case golden_case;
  std::string expected;
};

std::optional<File> read(const fs::path& path, const fs::path& root) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.starts_with("# test:")) return std::nullopt;
  File file;
  size_t line_end = text.find('\n');
  file.header = text.substr(0, line_end + 1);
  std::istringstream words(file.header.substr(7));
  words >> file.mode;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    std::string value = equals == word.npos ? "" : word.substr(equals + 1);
    auto [it, added] = file.golden_case.options.emplace(key, value);
    if (!added) it->second += ";" + value;
  }
  size_t marker = text.find(kMarker);
  file.golden_case.input =
      text.substr(line_end + 1, marker == text.npos ? marker : marker - line_end - 1);
  file.golden_case.path = fs::relative(path, root).string();
  if (marker != text.npos) file.expected = text.substr(marker + kMarker.size());
  return file;
}

std::string as_comment(const std::string& output) {
  std::string out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    out += line.empty() ? "#\n" : "# " + line + "\n";
  return out;
}

std::string run(const File& file) {
  auto mode = kModes.find(file.mode);
  if (mode == kModes.end()) return "unknown mode '" + file.mode + "'\n";
  try {
    return mode->second(file.golden_case);
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what() + "\n";
  }
}

void print_difference(const std::string& expected, const std::string& actual) {
  std::istringstream a(expected), b(actual);
  std::string x, y;
  for (int line = 1, shown = 0; shown < 10; ++line) {
    bool has_x = static_cast<bool>(std::getline(a, x)),
         has_y = static_cast<bool>(std::getline(b, y));
    if (!has_x && !has_y) break;
    if (has_x && has_y && x == y) continue;
    if (has_x) std::printf("  line %d expected: %s\n", line, x.c_str());
    if (has_y) std::printf("  line %d actual:   %s\n", line, y.c_str());
    ++shown;
  }
}

int main(int argc, char** argv) {
  bool bless = false;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bless") {
      bless = true;
    } else if (fs::is_directory(argv[i])) {
      for (auto& entry : fs::recursive_directory_iterator(argv[i]))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else {
      files.push_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  int passed = 0, failed = 0;
  for (const fs::path& path : files) {
    auto file = read(path, fs::current_path());
    if (!file) continue;
    file->golden_case.path = path.filename().string();
    std::string actual = as_comment(run(*file));
    if (actual == file->expected) {
      ++passed;
    } else if (bless) {
      std::ofstream(path, std::ios::binary)
          << file->header << file->golden_case.input << kMarker << actual;
      std::printf("blessed %s\n", path.c_str());
    } else {
      ++failed;
      std::printf("FAILED %s (accept with: golden --bless %s)\n", path.c_str(), path.c_str());
      print_difference(file->expected, actual);
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || (passed == 0 && !bless) ? 1 : 0;
}

}  // namespace
}  // namespace tilewright::golden

int main(int argc, char** argv) {
  return tilewright::golden::main(argc, argv);
}
