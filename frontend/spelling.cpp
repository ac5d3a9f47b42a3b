#include "frontend/spelling.h"

#include <algorithm>

namespace tilewright::frontend {

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: two above for transpositions, one above, the current one.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest_word(std::string_view word,
                              const std::vector<std::string_view>& candidates) {
  std::string_view best;
  int best_distance = std::clamp(static_cast<int>(word.size() / 3), 1, 2) + 1;
  if (word.size() < 3) return best;
  for (std::string_view candidate : candidates) {
    int distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tilewright::frontend
