// The tree keeps its layers: which room may include which (DESIGN, "Rooms"), where LLVM, SQLite and
// heavy standard headers may appear, and how long files and functions may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileLines = 800;
constexpr size_t kMaxFunctionLines = 120;

// A room is a folder; the longest prefix of a path decides. `may` lists other rooms by prefix.
struct Room {
  std::string_view folder;
  std::vector<std::string_view> may;
};

const std::vector<Room>& rooms() {
  static const std::vector<std::string_view> kCompiler = {"dsl/base", "dsl", "frontend", "codegen"};
  static const std::vector<std::string_view> kExecutor = {"dsl/base", "runtime/device",
                                                          "runtime/launch", "runtime/cache"};
  auto with = [](std::vector<std::string_view> all, std::initializer_list<std::string_view> more) {
    all.insert(all.end(), more);
    return all;
  };
  static const std::vector<Room> kRooms = {
      // The compiler's chain. The frontend makes tile IR, so codegen/ir lies below it.
      {"dsl/base", {}},
      {"dsl", {"dsl/base"}},
      {"codegen/ir", {"dsl/base"}},
      {"codegen/layout", {"dsl/base"}},
      {"codegen/target", {"dsl/base"}},
      {"frontend", {"dsl/base", "dsl", "codegen/ir"}},
      {"codegen", kCompiler},
      // The executor's chain: no compiler, no LLVM.
      {"runtime/device", kExecutor},
      {"runtime/launch", kExecutor},
      {"runtime/cache", kExecutor},
      {"runtime/include", {"dsl/base"}},
      // Both meet.
      {"runtime", with(kCompiler, {"runtime"})},
      {"autotune/db", {"dsl/base"}},
      {"autotune", with(kCompiler, {"runtime", "autotune/db"})},
      {"kernels_lib", with(kCompiler, {"runtime", "autotune"})},
      {"tools", with(kCompiler, {"runtime", "autotune", "kernels_lib"})},
      {"tests", with(kCompiler, {"runtime", "autotune", "kernels_lib", "tools"})},
  };
  return kRooms;
}

bool is_inside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

const Room* room_of(std::string_view path) {
  const Room* best = nullptr;
  for (const Room& room : rooms())
    if (is_inside(path, room.folder) && (!best || room.folder.size() > best->folder.size()))
      best = &room;
  return best;
}

bool may_include(std::string_view from, std::string_view target) {
  const Room* room = room_of(from);
  const Room* other = room_of(target);
  if (room == nullptr || other == nullptr) return false;
  if (room == other) return true;
  return std::ranges::any_of(room->may, [&](std::string_view folder) {
    return other->folder == folder || is_inside(other->folder, folder);
  });
}

struct SourceText {
  std::string path;  // from the root
  std::string text;
  bool is_header() const { return path.ends_with(".h") || path.ends_with(".hpp"); }
  bool is_test() const { return path.starts_with("tests/"); }
};

const std::vector<SourceText>& sources() {
  static const auto all = [] {
    std::vector<SourceText> out;
    fs::path root = TILEWRIGHT_SOURCE_DIR;
    for (const char* folder :
         {"dsl", "frontend", "codegen", "runtime", "autotune", "kernels_lib", "tools", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        std::string extension = entry.path().extension().string();
        if (extension != ".cpp" && extension != ".h" && extension != ".hpp") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        out.push_back({fs::relative(entry.path(), root).generic_string(),
                       {std::istreambuf_iterator<char>(in), {}}});
      }
    std::ranges::sort(out, {}, &SourceText::path);
    return out;
  }();
  return all;
}

struct Include {
  std::string name;
  bool is_quoted = false;
};

std::vector<Include> includes(std::string_view text) {
  std::vector<Include> out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with("#include ")) continue;
    line.remove_prefix(9);
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
    out.push_back({std::string(line.substr(1, end - 1)), line[0] == '"'});
  }
  return out;
}

struct FunctionLength {
  std::string head;
  size_t lines = 0;
};

// Text with comments, literals and preprocessor lines blanked; line breaks stay.
std::string code_only(std::string_view text) {
  std::string out(text);
  auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  bool line_start = true;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    char c = text[i];
    auto at = [&](std::string_view what) { return text.substr(i).starts_with(what); };
    if (c == '\n') {
      line_start = true;
    } else if (line_start && c == '#') {
      while (end < text.size() && !(text[end] == '\n' && text[end - 1] != '\\')) ++end;
      blank(i, end);
    } else if (at("//")) {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (at("/*")) {
      end = std::min(text.find("*/", i), text.size() - 2) + 2;
      blank(i, end);
    } else if (at("R\"")) {
      size_t open = text.find('(', i);
      std::string close = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
      end = std::min(text.find(close, open), text.size() - close.size()) + close.size();
      blank(i, end);
    } else if (c == '"' || (c == '\'' && (i == 0 || !std::isalnum(text[i - 1])))) {
      while (end < text.size() && text[end] != c && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      blank(i, ++end);
    }
    if (c != ' ' && c != '\n') line_start = false;
    i = end;
  }
  return out;
}

bool is_container(std::string head) {
  if (size_t at = head.find("template"); at != head.npos) {
    int depth = 0;
    size_t i = head.find('<', at);
    for (; i < head.size(); ++i) {
      depth += head[i] == '<' ? 1 : head[i] == '>' ? -1 : 0;
      if (depth == 0) break;
    }
    head = head.substr(std::min(i + 1, head.size()));
  }
  size_t begin = head.find_first_not_of(" \n");
  if (begin == head.npos) return false;
  for (std::string_view word : {"namespace", "class ", "struct ", "union ", "enum ", "extern "})
    if (std::string_view(head).substr(begin).starts_with(word)) return true;
  return false;
}

// The functions of a file: blocks with parentheses in their head, in namespaces and classes only.
std::vector<FunctionLength> function_lengths(std::string_view text) {
  std::string code = code_only(text);
  std::vector<FunctionLength> out;
  enum class Block : uint8_t { kContainer, kFunction, kOther };
  std::vector<std::pair<Block, size_t>> open;  // with the line it starts on
  size_t line = 1, head_line = 1;
  std::string head;
  std::string function_head;
  for (char c : code) {
    if (c == '\n') ++line;
    if (c == '{') {
      bool outside = std::ranges::all_of(
          open, [](const auto& block) { return block.first == Block::kContainer; });
      Block kind = is_container(head)                       ? Block::kContainer
                   : outside && head.find('(') != head.npos ? Block::kFunction
                                                            : Block::kOther;
      if (kind == Block::kFunction) function_head = head;
      open.emplace_back(kind, head_line);
      head.clear();
    } else if (c == '}') {
      if (open.empty()) continue;
      auto [kind, begin] = open.back();
      open.pop_back();
      if (kind == Block::kFunction) out.push_back({function_head, line - begin + 1});
      head.clear();
    } else if (c == ';') {
      head.clear();
    } else if (!head.empty() || (c != ' ' && c != '\n')) {
      if (head.empty()) head_line = line;
      head += c;
    }
  }
  return out;
}

TEST(Layers, TheScannersSeeWhatTheyShould) {
  std::string text =
      "#include \"dsl/ast.h\"\n#include <vector>\n"
      "#define M(x) {      \\\n  ( x\n"
      "namespace a {\n// { (\n"
      "struct S {\n  int f(int x = 1'000) {\n    return '{' + x;\n  }\n};\n"
      "template <class T>\nvoid g(T) {\n  auto s = R\"(}}))\";\n  if (s) {\n  }\n}\n"
      "constexpr int kA[] = {f(1), 2};\n}\n";
  auto found = includes(text);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].is_quoted && found[0].name == "dsl/ast.h");
  EXPECT_TRUE(!found[1].is_quoted && found[1].name == "vector");
  auto functions = function_lengths(text);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].lines, 3u);
  EXPECT_EQ(functions[1].lines, 6u);
}

TEST(Layers, TheTableRefuses) {
  EXPECT_TRUE(may_include("frontend/x.cpp", "codegen/ir/module.h"));
  EXPECT_FALSE(may_include("frontend/x.cpp", "codegen/passes/passes.h"));
  EXPECT_FALSE(may_include("dsl/lexer.cpp", "frontend/frontend.h"));
  EXPECT_FALSE(may_include("dsl/base/base.cpp", "dsl/ast.h"));
  EXPECT_FALSE(may_include("codegen/ir/print.cpp", "codegen/passes/passes.h"));
  EXPECT_FALSE(may_include("runtime/launch/x.cpp", "runtime/compile/kernel.h"));
  EXPECT_FALSE(may_include("runtime/cache/x.cpp", "codegen/target/target.h"));
  EXPECT_TRUE(may_include("runtime/compile/x.cpp", "codegen/cuda/cuda.h"));
  EXPECT_FALSE(may_include("runtime/compile/x.cpp", "autotune/space.h"));
  EXPECT_FALSE(may_include("autotune/db/x.cpp", "autotune/space.h"));
  EXPECT_TRUE(may_include("tools/x.cpp", "autotune/db/tuning_db.h"));
}

TEST(Layers, RoomsIncludeOnlyWhatLiesBelow) {
  ASSERT_GT(sources().size(), 100u);
  for (const SourceText& source : sources())
    for (const Include& include : includes(source.text)) {
      std::string target = include.name;
      if (target.starts_with("tilewright/")) target = "runtime/include/" + target;
      fs::path root = TILEWRIGHT_SOURCE_DIR;
      // A test's helper may lie beside it.
      if (source.is_test() && fs::exists((root / source.path).parent_path() / target)) continue;
      bool ours = include.is_quoted || include.name.starts_with("tilewright/");
      if (!ours) continue;
      EXPECT_TRUE(fs::exists(root / target))
          << source.path << ": \"" << include.name << "\" is no path from the root";
      EXPECT_TRUE(may_include(source.path, target)) << source.path << " includes " << target;
    }
}

TEST(Layers, ForeignHeadersStayInTheirRooms) {
  for (const SourceText& source : sources())
    for (const Include& include : includes(source.text)) {
      const std::string& name = include.name;
      std::string what = source.path + " includes " + name;
      // llvm-config.h is LLVM's version as macros, C and C++ alike.
      bool is_llvm = name.starts_with("llvm") && name != "llvm/Config/llvm-config.h";
      EXPECT_TRUE(!is_llvm || name.starts_with("llvm-c/")) << what << "; only the C API is used";
      EXPECT_TRUE(!name.starts_with("llvm") || source.path.starts_with("codegen/cpu/")) << what;
      EXPECT_TRUE(name != "sqlite3.h" || source.path.starts_with("autotune/db/")) << what;
      EXPECT_FALSE(name == "cuda.h" || name == "nvrtc.h" || name.starts_with("cuda_"))
          << what << "; the few declarations needed are our own";
      if (!source.is_header() || source.is_test()) continue;
      for (const char* heavy : {"regex", "filesystem", "iostream"})
        EXPECT_NE(name, heavy) << what << ", which every user of the header pays for";
      EXPECT_FALSE(name.starts_with("fmt/")) << what << "; fmt is for .cpp files";
    }
}

TEST(Layers, FilesAndFunctionsAreShort) {
  for (const SourceText& source : sources()) {
    if (source.is_test()) continue;
    auto lines = static_cast<size_t>(std::ranges::count(source.text, '\n'));
    EXPECT_LE(lines, kMaxFileLines) << source.path;
    for (const FunctionLength& function : function_lengths(source.text))
      EXPECT_LE(function.lines, kMaxFunctionLines) << source.path << ": " << function.head;
  }
}

}  // namespace
}  // namespace tilewright
