// The CPU backend: tile IR -> LLVM IR text -> machine code through the LLVM C API and ORC.
// Numerics follow dsl/LANGUAGE.md. No LLVM type is visible here; without LLVM at build time
// available() is false and compile() fails with `no-llvm`.
#pragma once

#include <memory>
#include <string>

#include "codegen/execution.h"
#include "codegen/ir/module.h"

namespace tilewright::cpu {

bool available();
// Host CPU name and LLVM version, part of cache keys: "znver4/llvm-19.1.7".
std::string target_description();

struct Options {
  int opt_level = 2;
  // Emit line tables so that a debugger steps in the kernel's own source (needs the SourceMap).
  const SourceMap* debug_sources = nullptr;
  // Widest vector registers to use, in bytes (16, 32 or 64); 0 = the host's.
  int vector_bytes = 0;
};

// LLVM IR text of the kernel, one program instance:
//   i64 @<name>(ptr args, ptr buffers, i32 pid0, pid1, pid2, grid0, grid1, grid2)
// gives 0, or the code of the check that failed (emitter.h).
Result<std::string> emit_llvm(const ir::Module& module, const Options& options = {});
// Host assembly for `--emit asm`.
Result<std::string> emit_assembly(const ir::Module& module, const Options& options = {});

// Machine code, owned; callable from several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Runs the grid on a pool of `threads` (0 = one per hardware thread); returns when all is done.
  virtual Status run(const Launch& launch, int threads = 0) const = 0;
};
Result<std::shared_ptr<Kernel>> compile(const ir::Module& module, const Options& options = {});

}  // namespace tilewright::cpu
