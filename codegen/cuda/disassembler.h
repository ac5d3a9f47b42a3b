// NVIDIA's disassembler, where one is installed: text of a cubin's machine code. Nothing in
// tilewright depends on it; reports read cubins themselves (sass.h).
#pragma once

#include <string>
#include <string_view>

#include "dsl/base/result.h"

namespace tilewright::cuda {

// The path of nvdisasm, or of cuobjdump. Searched: $TILEWRIGHT_NVDISASM, $PATH, $CUDA_HOME/bin,
// $CUDA_PATH/bin, /usr/local/cuda/bin. The error `no-disassembler` names these.
Result<std::string> find_disassembler();

struct DisassemblyOptions {
  bool line_info = false;  // the source line above each stretch of code
  bool encoding = false;   // the instructions' bits behind them (nvdisasm only)
};
Result<std::string> disassemble(std::string_view cubin, const DisassemblyOptions& options = {});

}  // namespace tilewright::cuda
