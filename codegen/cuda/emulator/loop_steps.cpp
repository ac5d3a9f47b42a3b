#include "codegen/cuda/emulator/loop_steps.h"

#include <algorithm>
#include <cctype>

namespace tilewright::cuda {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Whether `word` stands at `at`, and a parenthesis after it; `open` is then where.
bool is_loop(std::string_view text, size_t at, std::string_view word, size_t& open) {
  if (text.compare(at, word.size(), word) != 0 || (at > 0 && is_word(text[at - 1]))) return false;
  open = text.find_first_not_of(' ', at + word.size());
  return open != text.npos && text[open] == '(';
}

// Past a comment or a string that begins at `at`; `at` itself if none does.
size_t skip_opaque(std::string_view text, size_t at) {
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text[at] != '"') return at;
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// Where the step goes: behind the parenthesis of a while, behind the second semicolon of a for.
size_t place_of(std::string_view text, size_t open, bool is_for) {
  if (!is_for) return open + 1;
  int depth = 0, semicolons = 0;
  for (size_t at = open; at < text.size(); ++at) {
    char c = text[at];
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) return text.npos;  // a range-based for: it ends
    if (c == ';' && depth == 1 && ++semicolons == 2) return at + 1;
  }
  return text.npos;
}

}  // namespace

std::string count_loop_turns(std::string_view text) {
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; at < text.size();) {
    if (size_t next = skip_opaque(text, at); next != at) {
      at = next;
      continue;
    }
    size_t open = 0;
    bool is_for = is_loop(text, at, "for", open);
    if (!is_for && !is_loop(text, at, "while", open)) {
      ++at;
      continue;
    }
    size_t place = place_of(text, open, is_for);
    at = open + 1;
    if (place == text.npos) continue;
    out.append(text.substr(copied, place - copied));
    bool is_empty = is_for && text[text.find_first_not_of(' ', place)] == ')';
    out += !is_for ? "!tw_step() ? false : " : is_empty ? " tw_step()" : " tw_step(),";
    copied = at = place;
  }
  out.append(text.substr(copied));
  return out;
}

}  // namespace tilewright::cuda
