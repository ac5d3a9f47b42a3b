// Mode `llvm`: the CPU backend's LLVM IR for IR text. `vector=BYTES` is the widest register (32
// unless given), so that the output does not depend on the machine; `debug=1` adds the line table.
#include "codegen/cpu/cpu.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {

std::string run_llvm(const Case& golden_case) {
  auto module = ir::parse(golden_case.path, golden_case.input);
  if (!module) return module.error().text() + "\n";
  if (Status valid = ir::verify(*module); !valid) return valid.error().text() + "\n";
  SourceMap sources;
  sources.add(golden_case.path, golden_case.input);
  cpu::Options options;
  auto vector = golden_case.options.find("vector");
  options.vector_bytes = vector == golden_case.options.end() ? 32 : std::stoi(vector->second);
  if (golden_case.options.count("debug")) options.debug_sources = &sources;
  auto text = cpu::emit_llvm(*module, options);
  return text ? *text : text.error().text() + "\n";
}

}  // namespace tilewright::golden
