// Every rule of canonicalize is shown by a golden test.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "codegen/ir/module.h"
#include "codegen/passes/canonicalize.h"

namespace tilewright::passes {
namespace {

// The modules of a golden file.
std::vector<std::string> modules_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text = text.substr(text.find('\n') + 1);
  text = text.substr(0, text.find("# --- expected"));
  std::vector<std::string> modules;
  for (size_t begin = 0; begin != text.npos;) {
    size_t end = text.find("---\n", begin);
    modules.push_back(text.substr(begin, end == text.npos ? end : end - begin));
    begin = end == text.npos ? end : end + 4;
  }
  return modules;
}

TEST(Rules, EveryRuleIsShown) {
  const auto& rules = canonicalization_rules();
  std::set<std::string_view> shown;
  std::filesystem::path folder = std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/golden/passes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    for (const std::string& text : modules_of(entry.path())) {
      auto module = ir::parse(entry.path().filename().string(), text);
      ASSERT_TRUE(module.ok()) << module.error().text();
      std::vector<int> hits;
      canonicalize(*module, hits);
      for (size_t i = 0; i < rules.size(); ++i)
        if (hits[i] > 0) shown.insert(rules[i]->name);
    }
  }
  for (const Rule* rule : rules)
    EXPECT_TRUE(shown.contains(rule->name))
        << "no text in tests/golden/passes shows " << rule->name;
}

}  // namespace
}  // namespace tilewright::passes
