// Mutated kernels never break lowering: each gives diagnostics or a verified module. The seeds are
// the golden kernels; TILEWRIGHT_FUZZ_ROUNDS asks for more mutations than the default.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "frontend/frontend.h"

namespace tilewright::frontend {
namespace {

struct Seed {
  std::string path;
  std::string text;
  Specialization specialization;
};

void read_options(Seed& seed, const std::string& header) {
  std::istringstream words(header);
  for (std::string word; words >> word;) {
    if (word.starts_with("arg="))
      seed.specialization.arguments.push_back(parse_argument(word.substr(4)).value());
    if (!word.starts_with("const=")) continue;
    size_t equals = word.find('=', 6);
    Argument& argument = seed.specialization.arguments.emplace_back();
    argument.name = word.substr(6, equals - 6);
    argument.is_constant = true;
    argument.constant = parse_constant(word.substr(equals + 1)).value();
  }
  seed.specialization.debug = true;
}

std::vector<Seed> load_seeds() {
  std::vector<Seed> seeds;
  for (const char* folder : {"lower", "diag"})
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/golden/" + folder)) {
      std::ifstream in(entry.path());
      std::string text{std::istreambuf_iterator<char>(in), {}};
      Seed& seed = seeds.emplace_back();
      seed.path = entry.path().filename().string();
      size_t line = text.find('\n');
      seed.text = text.substr(line + 1, text.find("# --- expected") - line - 1);
      read_options(seed, text.substr(0, line));
    }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.path < b.path; });
  return seeds;
}

// Words (names, numbers), other characters one by one, and line starts with their indentation.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> out;
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word(text[i]))
      while (end < text.size() && is_word(text[end])) ++end;
    else if (text[i] == '\n')
      while (end < text.size() && text[end] == ' ') ++end;
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string mutate(const std::string& text, const std::vector<std::string>& pool,
                   std::mt19937& random) {
  std::vector<std::string> tokens = tokens_of(text);
  auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  // The imports and the decorator stay, so that most mutants reach lowering.
  size_t first = 0;
  while (first + 1 < tokens.size() && tokens[first] != "def") ++first;
  size_t count = 1 + pick(3);
  for (size_t i = 0; i < count && tokens.size() > first + 4; ++i) {
    size_t at = first + 2 + pick(tokens.size() - first - 2);
    switch (pick(5)) {
      case 0:
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        tokens[at] = pool[pick(pool.size())];
        break;
      case 2:
        std::swap(tokens[at], tokens[first + 2 + pick(tokens.size() - first - 2)]);
        break;
      case 3:
        tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), pool[pick(pool.size())]);
        break;
      default:
        tokens[at] = tokens[first + 2 + pick(tokens.size() - first - 2)];
    }
  }
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

TEST(LowerFuzz, MutantsGiveDiagnosticsOrVerifiedIr) {
  std::vector<Seed> seeds = load_seeds();
  ASSERT_GT(seeds.size(), 40u);
  std::vector<std::string> pool = {"0",          "1",          "-1",
                                   "None",       "True",       "1.5",
                                   "(",          ")",          "[",
                                   "]",          ",",          ":",
                                   "+",          "-",          "*",
                                   "//",         "%",          "<",
                                   "==",         "and",        "not",
                                   "is",         "if",         "else",
                                   "for",        "while",      "return",
                                   "x",          "n",          "\n    ",
                                   "\n        ", "tl.float16", "tl.constexpr",
                                   "'s'",        "2**70",      "1e400",
                                   "**"};
  for (const Seed& seed : seeds)
    for (const std::string& token : tokens_of(seed.text))
      if (token.size() > 1 && token[0] != '\n') pool.push_back(token);
  const char* rounds_text = std::getenv("TILEWRIGHT_FUZZ_ROUNDS");
  int rounds = rounds_text ? std::atoi(rounds_text) : 3000;
  std::mt19937 random(12345);
  int lowered = 0;
  for (int round = 0; round < rounds; ++round) {
    const Seed& seed = seeds[random() % seeds.size()];
    if (seed.path == "kernel_too_large.py") continue;  // slow by design
    std::string text = mutate(seed.text, pool, random);
    try {
      auto program = Program::load("fuzz.py", text);
      if (!program || (*program)->functions().empty()) continue;
      auto module = lower(**program, (*program)->functions().back(), seed.specialization);
      if (!module) {
        ASSERT_NE(module.error().kind, DiagKind::kInternal) << module.error().text() << "\n"
                                                            << seed.path << "\n"
                                                            << text;
      } else {
        ++lowered;
      }
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << seed.path << "\n" << text;
    }
  }
  // The mutations are mild enough that both outcomes are really exercised.
  EXPECT_GT(lowered, rounds / 50);
}

}  // namespace
}  // namespace tilewright::frontend
