// Mutated decorators and kernels never break what reads them without types: description,
// heuristics and the check give values or diagnostics.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "frontend/frontend.h"

namespace tilewright::frontend {
namespace {

std::vector<std::string> load_seeds() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"describe", "check"})
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(TILEWRIGHT_SOURCE_DIR "/tests/golden/") + folder))
      if (entry.path().filename() != "config_errors.py") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    size_t line = text.find('\n');
    seeds.push_back(text.substr(line + 1, text.find("# --- expected") - line - 1));
  }
  return seeds;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word(text[i]))
      while (end < text.size() && is_word(text[end])) ++end;
    words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

TEST(HostFuzz, MutatedDecoratorsAndKernels) {
  std::mt19937 random(42);
  std::vector<std::string> seeds = load_seeds();
  ASSERT_GE(seeds.size(), 6u);
  const std::map<std::string, Constant> bound = {{"n", Constant::integer_of(100)},
                                                 {"m", Constant::integer_of(0)}};
  int loaded = 0;
  for (const std::string& seed : seeds) {
    std::vector<std::string> words = words_of(seed);
    for (int round = 0; round < 120; ++round) {
      std::vector<std::string> mutated = words;
      for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
        size_t at = random() % mutated.size(), other = random() % words.size();
        if (random() % 3 == 0)
          mutated.erase(mutated.begin() + static_cast<ptrdiff_t>(at));
        else
          mutated[at] = words[other];
      }
      std::string text;
      for (const std::string& word : mutated) text += word;
      try {
        auto program = Program::load("fuzz.py", text);
        if (!program) continue;
        ++loaded;
        for (const CheckReport& report : check(**program))
          for (const Diagnostic& diagnostic : report.sink.all())
            ASSERT_NE(diagnostic.kind, DiagKind::kInternal) << text;
        for (const std::string& name : (*program)->functions()) {
          auto info = describe_kernel(**program, name);
          ASSERT_TRUE(info || info.error().kind != DiagKind::kInternal) << text;
          auto computed = evaluate_heuristics(**program, name, bound);
          ASSERT_TRUE(computed || computed.error().kind != DiagKind::kInternal) << text;
        }
      } catch (const std::exception& error) {
        FAIL() << error.what() << "\n" << text;
      }
    }
  }
  EXPECT_GT(loaded, 200);  // Enough mutations are still Python.
}

}  // namespace
}  // namespace tilewright::frontend
