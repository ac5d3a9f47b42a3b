// What the programs show while they work: errors on stderr, a progress line when stderr is a
// terminal.
#pragma once

#include <string>

#include "autotune/tune.h"
#include "dsl/base/result.h"

namespace tilewright::tools {

// Writes the error's text to stderr and gives the exit status 1.
int fail(const ErrorInfo& error);
void print_error(const std::string& text);

// "[ 12/40] 64 s left  best BLOCK_M=64,… 123.4 us" on one line that is rewritten; nothing without a
// terminal.
class ProgressLine {
 public:
  ~ProgressLine();
  void show(const autotune::Progress& progress);
  void message(const std::string& text);  // a line of its own, terminal or not

 private:
  void clear();
  double start_ = 0;
  bool shown_ = false;
};

// "1.23 ms", "45.6 us".
std::string format_duration(double nanoseconds);

}  // namespace tilewright::tools
