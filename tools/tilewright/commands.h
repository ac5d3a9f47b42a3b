// The subcommands of `tilewright`: plain functions from parsed options to an exit status.
// 0: done; 1: an error, told on stderr. Usage errors (2) are main's.
#pragma once

#include <string>
#include <vector>

#include "tools/common/workload_text.h"

namespace tilewright::tools {

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
};
// Parses and resolves every kernel of the files; argument types are not needed.
int run_check(const CheckOptions& options);

struct CompileOptions {
  std::string kernel;                  // FILE.py::KERNEL
  std::string target = "sm_80";        // sm_NN or cpu
  std::vector<std::string> arguments;  // x=*bf16:16
  std::vector<std::string> constants;  // BLOCK=1024
  int num_warps = 4, num_stages = 3, maxnreg = 0;
  bool line_info = false, debug = false;
  std::string emit = "report";
  std::string card;     // that the report judges by; empty: the target's reference card
  bool json = false;    // the report
  int max_spills = -1;  // more spill instructions are an error; -1: any number will do
  std::string output;   // empty: stdout
};
int run_compile(const CompileOptions& options);

struct RunOptions {
  LaunchText launch;
  std::string device = "auto";
  int num_warps = 4, num_stages = 3, maxnreg = 0;
  std::vector<std::string> save;  // NAME=FILE.npy
};
int run_run(const RunOptions& options);

struct DemoOptions {
  std::string device = "auto";
  int size = 0;  // 0: 4096 on a GPU, 512 elsewhere
  std::string database;
};
int run_demo(const DemoOptions& options);

}  // namespace tilewright::tools
