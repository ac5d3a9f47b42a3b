#include "tools/common/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace tilewright::tools {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

}  // namespace

int fail(const ErrorInfo& error) {
  print_error(error.text());
  return 1;
}

void print_error(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::clear() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
  shown_ = false;
}

void ProgressLine::message(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void ProgressLine::show(const autotune::Progress& progress) {
  if (start_ == 0) start_ = now();
  if (!is_terminal()) return;
  double left = (now() - start_) / progress.done * (progress.total - progress.done);
  std::string best = progress.best_config.empty() ? "no config yet"
                                                  : fmt::format("best {} {}", progress.best_config,
                                                                format_duration(progress.best_ns));
  std::fprintf(stderr, "\r\x1b[K[%d/%d] %.0f s left  %s", progress.done, progress.total, left,
               best.c_str());
  std::fflush(stderr);
  shown_ = true;
}

std::string format_duration(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.2f} s", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  if (nanoseconds >= 1e3) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ns", nanoseconds);
}

}  // namespace tilewright::tools
