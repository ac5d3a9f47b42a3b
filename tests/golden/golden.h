// The golden runner's contract. A golden file is:
//
//   # test: <mode> [key=value …]        first line: how the input is turned into output
//   <input text>
//   # --- expected
//   # <each line of the output, prefixed>
//
// A mode turns the input into text. Modes live in modes_<room>.cpp and register themselves in
// modes.def. `golden --bless FILE…` rewrites the expected part.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tilewright::golden {

struct Case {
  std::string path;   // relative to the golden folder, used in messages
  std::string input;  // text between the header and the expected part, spans count from here
  std::map<std::string, std::string, std::less<>> options;  // repeated keys are joined by ';'
};

// One function a mode; declared from modes.def: TW_GOLDEN_MODE(name).
#define TW_GOLDEN_MODE(name) std::string run_##name(const Case& golden_case);
#include "tests/golden/modes.def"
#undef TW_GOLDEN_MODE

}  // namespace tilewright::golden
