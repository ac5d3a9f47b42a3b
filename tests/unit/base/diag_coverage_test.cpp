// Every kind of diagnostic is shown by a test: its name in brackets, as messages end, or the name
// or enumerator that a unit test expects, occurs in some file under tests/.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "dsl/base/diagnostic.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnumerators[] = {
#define TW_DIAG(enumerator, name, doc) #enumerator,
#include "dsl/base/diag_kinds.def"
#undef TW_DIAG
};

// Kinds that no test can bring about, and why.
const std::map<std::string_view, std::string_view> kExempt = {
    {"internal", "stands for defects of ours; InternalError has its own test"},
    {"no-llvm", "only builds without LLVM give it, and tests are built with LLVM"},
};

std::string read_tests() {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests")) {
    if (!entry.is_regular_file() || entry.path().filename() == "diag_coverage_test.cpp") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(in), {});
    all += '\n';
  }
  return all;
}

// `DiagKind::kIo`, but not as the beginning of a longer name.
bool names_enumerator(const std::string& text, std::string_view enumerator) {
  std::string wanted = "DiagKind::" + std::string(enumerator);
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    char next = at + wanted.size() < text.size() ? text[at + wanted.size()] : ' ';
    bool continues = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                     (next >= '0' && next <= '9') || next == '_';
    if (!continues) return true;
  }
  return false;
}

TEST(DiagCoverage, EveryKindHasATest) {
  std::string tests = read_tests();
  ASSERT_GT(tests.size(), 100000u);
  for (int i = 0; i < diag_kind_count(); ++i) {
    auto kind = static_cast<DiagKind>(i);
    std::string name(diag_name(kind));
    if (kExempt.contains(name)) continue;
    bool shown =
        tests.find("[" + name + "]") != tests.npos ||
        tests.find(", \"" + name + "\")") != tests.npos ||  // EXPECT_EQ(diag_name(kind), "…")
        names_enumerator(tests, kEnumerators[i]);
    EXPECT_TRUE(shown) << "no test shows [" << name << "]";
  }
}

TEST(DiagCoverage, ExemptionsAreKinds) {
  for (const auto& [name, reason] : kExempt) {
    bool known = false;
    for (int i = 0; i < diag_kind_count(); ++i)
      known |= diag_name(static_cast<DiagKind>(i)) == name;
    EXPECT_TRUE(known) << name;
    EXPECT_FALSE(reason.empty()) << name;
  }
}

}  // namespace
}  // namespace tilewright
