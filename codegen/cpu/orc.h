// Machine code from LLVM IR text. The only part of the backend that knows LLVM, through its C API.
// All functions may be called from several threads at once; each call has a context of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dsl/base/result.h"

namespace tilewright::cpu {

struct HostInfo {
  std::string cpu;           // LLVM's name of the host CPU
  std::string features;      // LLVM's feature string
  std::string llvm_version;  // "19.1.7"
  int vector_bytes = 16;     // widest vector registers
};

bool llvm_available();
const HostInfo& host_info();

// Linked code; freed with the object.
class MachineCode {
 public:
  virtual ~MachineCode() = default;
  virtual void* entry() const = 0;
};

// Verifies, optimises, compiles and links the module; `symbol` is the function to look up. With
// `debug` the code is announced to an attached gdb.
Result<std::unique_ptr<MachineCode>> compile_ir(std::string_view ir, std::string_view symbol,
                                                int opt_level, bool debug);
// Host assembly of the optimised module.
Result<std::string> assemble_ir(std::string_view ir, int opt_level);

}  // namespace tilewright::cpu
