// Kernels that never end: every loop of an emitted text is made to count its turns.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::cuda {

// The text with tw_step() run in each turn of its `for` and `while` loops. Lines stay where they
// are.
std::string count_loop_turns(std::string_view text);

}  // namespace tilewright::cuda
