// The environment of a kernel as the C interface sees it: names bound to constants, or to functions
// of other texts with environments of their own; and how all of it becomes one program.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "runtime/api/environment.h"
#include "runtime/compile/compile.h"
#include "tilewright/tilewright.hpp"

namespace tilewright {

class EnvironmentTable {
 public:
  struct Function {
    std::string source;  // empty: the kernel's own text
    std::string name;
    std::shared_ptr<const EnvironmentTable> environment;
  };
  struct Entry {
    frontend::Constant constant;
    std::shared_ptr<const Function> function;  // instead of the constant
  };

  void set(std::string name, frontend::Constant constant) {
    entries_[std::move(name)] = {std::move(constant), nullptr};
  }
  void set_function(std::string name, std::string source, std::string function,
                    EnvironmentTable environment);
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

struct MergedProgram {
  std::string text;
  std::map<std::string, frontend::Constant> environment;
};

// One text and one environment. The texts of functions are put behind the kernel's, so the kernel's
// lines keep their numbers. A name that would mean different things in two of the texts is the
// error `unsupported-environment`.
Result<MergedProgram> merge(std::string text, const EnvironmentTable& table);

// Parses. `tl` and `triton` mean Triton's modules where neither the text nor the environment
// defines them: the text of a single function has no imports.
Result<std::shared_ptr<const frontend::Program>> load_program(
    std::string path, std::string text, std::map<std::string, frontend::Constant> environment);

Result<std::string> read_text_file(const std::string& path);

// Compiles the specialisation of a call for a CUDA target by name.
Result<runtime::CompiledPtr> compile_for_target(const Kernel& kernel, const std::string& target,
                                                const LaunchOptions& options,
                                                std::span<const Argument> arguments);

}  // namespace tilewright
