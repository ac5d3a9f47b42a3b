// Lowers kernels from text and runs them on the interpreter, before and after the pipeline.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

struct KernelRun {
  std::string text;  // function definitions; the imports are added
  std::string kernel = "kernel";
  std::vector<std::string> signature;  // as on the command line: x=*f32, n=i32
  std::vector<std::pair<std::string, Constant>> constants = {};
  std::vector<uint64_t> arguments = {};  // addresses and scalars in parameter order
  std::array<uint32_t, 3> grid = {1, 1, 1};
};

inline Result<ir::Module> lower_text(const KernelRun& run) {
  std::string text =
      "import triton\nimport triton.language as tl\n"
      "from triton.language.extra import libdevice\n" +
      run.text;
  auto program = Program::load("test.py", text);
  if (!program) return program.error();
  Specialization specialization;
  for (const std::string& argument : run.signature)
    specialization.arguments.push_back(parse_argument(argument).value());
  for (const auto& [name, value] : run.constants) {
    Argument& argument = specialization.arguments.emplace_back();
    argument.name = name;
    argument.is_constant = true;
    argument.constant = value;
  }
  return lower(**program, run.kernel, specialization);
}

// Runs the kernel as lowered and then as the pipeline leaves it, verified after each pass; the
// caller looks at the memory that the second run wrote.
inline void run_lowered(const KernelRun& run) {
  auto module = lower_text(run);
  ASSERT_TRUE(module.ok()) << module.error().text();
  Status status = interp::run(*module, {run.grid, run.arguments});
  ASSERT_TRUE(status.ok()) << status.error().text() << ir::print(*module);
  passes::PipelineOptions options;
  options.fp_fusion = false;
  options.verify_each = true;
  status = passes::run_pipeline(*module, options);
  ASSERT_TRUE(status.ok()) << status.error().text() << ir::print(*module);
  status = interp::run(*module, {run.grid, run.arguments});
  ASSERT_TRUE(status.ok()) << status.error().text() << ir::print(*module);
}

inline uint64_t address(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
inline uint64_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace tilewright::frontend
