// A launch written as words: what `tilewright run` and `autotune` take.
//
//   FILE.py::KERNEL --grid 'cdiv(n, BLOCK)' x=@x.npy y='empty(f32,[n])' n=1000 --const BLOCK=1024
//
// A value is @FILE.npy, @FILE.npy:DTYPE (the same bytes as another dtype),
// rand(DTYPE,[sizes],seed=N) uniform in [-1, 1), randn(…), zeros(DTYPE,[sizes]),
// arange(DTYPE,[sizes]), empty(DTYPE,[sizes]) (filled with NaN), or an expression of constants.
// Sizes, grid and expressions may use scalars and constants by name; a scalar that is no parameter
// of the kernel may serve there.
#pragma once

#include <string>
#include <vector>

#include "autotune/kernel_trial.h"

namespace tilewright::tools {

struct KernelName {
  std::string file;
  std::string kernel;  // empty: the file's only kernel
};
KernelName split_kernel_name(const std::string& text);
// Reads and parses a file; `kernel` is filled in when it is empty and the file has one entry
// kernel.
Result<std::shared_ptr<const frontend::Program>> load_kernel(KernelName& name);

struct LaunchText {
  std::string kernel;                  // FILE.py::KERNEL
  std::string grid;                    // "cdiv(n, BLOCK)", "(a, b)", "a, b, c"
  std::vector<std::string> arguments;  // name=value
  std::vector<std::string> constants;  // NAME=VALUE
};
// Errors name the word at fault: `bad-argument`, `unknown-argument`, `unknown-name`, `io`.
Result<autotune::Workload> make_workload(const LaunchText& text);

// "f32[3, 4]".
std::string describe(const autotune::HostTensor& tensor);
Result<std::string> read_text_file(const std::string& path);

}  // namespace tilewright::tools
