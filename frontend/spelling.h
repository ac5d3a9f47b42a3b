// "did you mean": the known word nearest to a misspelt one.
#pragma once

#include <string_view>
#include <vector>

namespace tilewright::frontend {

// How many insertions, deletions and replacements of letters, and swaps of neighbours, turn one
// word into the other.
int edit_distance(std::string_view a, std::string_view b);

// The candidate that differs from `word` in at most a third of its letters (at least one, at most
// two), the first of equals; "" if there is none.
std::string_view nearest_word(std::string_view word,
                              const std::vector<std::string_view>& candidates);

}  // namespace tilewright::frontend
