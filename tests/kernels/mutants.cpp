// mutants[:sm_NN]: runs every launch under the emulator as it is and then with one deliberate
// mistake after another in the emitted text — a wait that lets one group more stay in flight, a
// barrier dropped, a slot off by one, … Each must be caught: by a check of the emulator, or because
// a buffer differs. What survives is a hole in the emulator, or a line of the text that does
// nothing.
#include <algorithm>
#include <cstdio>
#include <regex>
#include <set>
#include <sstream>

#include "codegen/cuda/cuda.h"
#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

struct Mutant {
  std::string mutator;
  int line;
  cuda::Source source;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A mistake in one line: each match of `pattern` is replaced in turn. `$n` with n the number of the
// group, `#` the number it holds changed by `add` (by exclusive or if `is_xor`; doubled if 0).
struct Mutator {
  const char* name;
  const char* pattern;
  const char* with;
  int group = 0, add = 0;
  bool is_xor = false;
};
const Mutator kMutators[] = {
    {"wait raised", R"(tw_cp_async_wait<(\d+)>)", "tw_cp_async_wait<#>", 1, 1},
    {"wait dropped", R"(tw_cp_async_wait<\d+>\(\);)", ""},
    {"barrier dropped", R"(tw_barrier\(\);)", ""},
    {"commit dropped", R"(tw_cp_async_commit\(\);)", ""},
    {"slot off by one", R"(= \(u32\)(\w+|\([^;]*\)) \* (\d+);)", "= ((u32)$1 + 1) * $2;"},
    {"ring too long", R"((const bool \w+ = \w+ == )(\d+);)", "$1#;", 2, 1},
    {"copy of the last tile missing", R"((const bool \w+ = \w+ > )(\d+)u;)", "$1#u;", 2, 0},
    {"copy to another place", R"(tw_cp_async(\w*)<(\d+), (\d+)>)", "tw_cp_async$1<$2, #>", 3, 16,
     true},
    {"mask dropped", R"((tw_cp_async_if<.*), [^,]*\);)", "$1, true);"},
    {"fragment from another place", R"(tw_ldmatrix(\w*)<4, (\d+)>)", "tw_ldmatrix$1<4, #>", 2, 16,
     true},
    {"fragment not transposed", R"(tw_ldmatrix_trans<)", "tw_ldmatrix<"},
    {"fragment transposed", R"(tw_ldmatrix<)", "tw_ldmatrix_trans<"},
    {"swizzle term dropped", R"((const u32 at\d* = .*) \^ [^^;]*;)", "$1;"},
    {"swizzle of a read changed", R"((const u32 \w+ = .*\) \^ )(\d+);)", "$1#;", 2, 16, true},
};

std::string replace(const Mutator& mutator, const std::smatch& match) {
  std::string with = match.format(mutator.with);
  if (size_t at = with.find('#'); at != with.npos) {
    int number = std::stoi(match[mutator.group]);
    number =
        mutator.is_xor ? number ^ mutator.add : number + (mutator.add != 0 ? mutator.add : number);
    with.replace(at, 1, std::to_string(number));
  }
  return match.prefix().str() + with + match.suffix().str();
}

// Two kinds of line do nothing wherever they stand. Variables without a use; and the wait behind a
// pipelined loop, since the groups that are left then hold no copies: it is there for its barrier.
bool is_idle(const std::string& text, const std::string& line) {
  static const std::regex defined(R"(const u32 (\w+) = )");
  if (line.starts_with("  tw_cp_async_wait")) return true;
  std::smatch match;
  if (!std::regex_search(line, match, defined)) return false;
  const std::string name = match[1];
  std::regex use("\\b" + name + "\\b");
  auto begin = std::sregex_iterator(text.begin(), text.end(), use);
  return std::distance(begin, std::sregex_iterator()) < 2;
}

bool uses_shared(const std::string& line) {
  for (const char* use : {"tw_shared", "tw_ldmatrix", "tw_cp_async"})
    if (line.find(use) != line.npos) return true;
  return false;
}

std::vector<Mutant> make_mutants(const cuda::Source& source) {
  std::vector<Mutant> mutants;
  const std::vector<std::string> lines = lines_of(source.text);
  auto add = [&](const char* name, size_t line, const std::vector<std::string>& changed) {
    Mutant mutant{name, static_cast<int>(line) + 1, source};
    mutant.source.text = text_of(changed);
    mutants.push_back(std::move(mutant));
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_idle(source.text, lines[i])) continue;
    // The last barrier of a text that does not use shared memory again.
    if (lines[i] == "  tw_barrier();" &&
        std::none_of(lines.begin() + static_cast<std::ptrdiff_t>(i) + 1, lines.end(), uses_shared))
      continue;
    for (const Mutator& mutator : kMutators) {
      // Its pipelined loop runs over whole tiles: the mask holds wherever it copies.
      if (source.entry == "attention" && mutator.name == std::string_view("mask dropped")) continue;
      std::smatch match;
      if (!std::regex_search(lines[i], match, std::regex(mutator.pattern))) continue;
      std::vector<std::string> changed = lines;
      changed[i] = replace(mutator, match);
      if (std::count(changed[i].begin(), changed[i].end(), '(') !=
          std::count(changed[i].begin(), changed[i].end(), ')'))
        continue;  // no term by itself
      add(mutator.name, i, changed);
    }
    if (lines[i].find("tw_cp_async_commit") == std::string::npos) continue;
    // The commit before the last copy of its group.
    size_t copy = i;
    do --copy;
    while (copy > 0 && lines[copy].find("tw_cp_async") == std::string::npos);
    if (copy == 0 || lines[copy].find("commit") != std::string::npos) continue;
    std::vector<std::string> changed = lines;
    changed[i].clear();
    changed[copy] = "tw_cp_async_commit(); " + changed[copy];
    add("commit too early", i, changed);
  }
  return mutants;
}

class Mutants : public Executor {
 public:
  explicit Mutants(const Target& target) : target_(target) {}
  std::string name() const override { return "mutants " + std::string(target_.name); }

  Status launch(const LaunchSpec& spec) override {
    TW_ASSIGN(auto module, lower(spec));
    TW_ASSIGN(auto slots, pack(spec, module));
    TW_ASSIGN(auto source, cuda::emit(module, target_));
    std::vector<Mutant> mutants = make_mutants(source);
    std::vector<cuda::Source> sources = {source};
    for (const Mutant& mutant : mutants) sources.push_back(mutant.source);
    auto kernels = cuda::emulate_all(sources);
    const auto before = images(spec);
    auto run = [&](const cuda::EmulatedKernel& kernel) {
      restore(spec, before);
      cuda::EmulatorOptions options;
      options.may_access = access_check(spec);
      return kernel.run({spec.grid, slots}, options);
    };
    // One that does not build takes those of its library with it.
    for (size_t i = 0; i < kernels.size(); ++i)
      if (!kernels[i])
        if (auto alone = cuda::emulate(sources[i])) kernels[i] = *alone;
    if (!kernels[0]) return make_error(DiagKind::kHostCompile, "the kernel does not build");
    TW_TRY(run(*kernels[0]));
    const auto right = images(spec);
    Seen& seen = seen_[spec.kernel + "\n" + source.text];
    seen.caught.resize(mutants.size());
    for (size_t i = 0; i < mutants.size(); ++i) {
      if (!seen.caught[i].empty()) continue;
      if (!kernels[i + 1]) return make_error(DiagKind::kHostCompile, mutants[i].mutator);
      Status status = run(*kernels[i + 1]);
      if (!status)
        seen.caught[i] = diag_name(status.error().kind);
      else if (images(spec) != right)
        seen.caught[i] = "wrong result";
    }
    restore(spec, right);
    seen.mutants = std::move(mutants);
    return {};
  }

  // Launches of one text count together: a tail mask, say, matters to some shapes only.
  Status finish() override {
    std::map<std::string, std::map<std::string, int>> table;
    std::string survivors;
    size_t count = 0;
    for (auto& [text, seen] : seen_)
      for (size_t i = 0; i < seen.mutants.size(); ++i) {
        const Mutant& mutant = seen.mutants[i];
        const bool survives = seen.caught[i].empty();
        ++table[mutant.mutator][survives ? "SURVIVED" : seen.caught[i]];
        ++count;
        if (survives)
          survivors += "\n  " + text.substr(0, text.find('\n')) + ": " + mutant.mutator +
                       " in line " + std::to_string(mutant.line) + ": " +
                       lines_of(text)[static_cast<size_t>(mutant.line)];
      }
    std::printf("%zu mutants of %zu texts\n", count, seen_.size());
    for (auto& [mutator, ways] : table) {
      std::printf("  %-30s", mutator.c_str());
      for (auto& [way, number] : ways) std::printf(" %s %d,", way.c_str(), number);
      std::printf("\n");
    }
    seen_.clear();
    if (count == 0) survivors = "\n  there is nothing to mutate";
    if (!survivors.empty()) return make_error(DiagKind::kInternal, "mutants survive" + survivors);
    return {};
  }

 private:
  static std::vector<std::vector<uint8_t>> images(const LaunchSpec& spec) {
    std::vector<std::vector<uint8_t>> all;
    for (const LaunchArgument& argument : spec.arguments)
      if (argument.buffer) all.push_back(argument.buffer->storage());
    return all;
  }
  // In place: launches hold the buffers' addresses.
  static void restore(const LaunchSpec& spec, const std::vector<std::vector<uint8_t>>& from) {
    size_t i = 0;
    for (const LaunchArgument& argument : spec.arguments)
      if (argument.buffer) {
        std::copy(from[i].begin(), from[i].end(), argument.buffer->storage().begin());
        ++i;
      }
  }
  struct Seen {
    std::vector<Mutant> mutants;
    std::vector<std::string> caught;  // by what; empty: not yet
  };
  const Target& target_;
  std::map<std::string, Seen> seen_;
};

}  // namespace

std::unique_ptr<Executor> make_mutants_executor(const Target& target) {
  return std::make_unique<Mutants>(target);
}

}  // namespace tilewright::kernel_tests
