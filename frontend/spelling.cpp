#include "frontend/spelling.h"

#include <algorithm>

namespace tilewright::frontend {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
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
