// NumPy's .npy format, version 1 to 3, C order: the way arrays come from and go to the shell.
// bf16 and fp8 have no NumPy type: they are written as '<V2' and '|u1'; reading, the caller names
// the dtype.
#pragma once

#include <string>

#include "autotune/host_tensor.h"
#include "dsl/base/result.h"

namespace tilewright::tools {

using autotune::HostTensor;

Result<HostTensor> read_npy(const std::string& path);
Status write_npy(const std::string& path, const HostTensor& array);

}  // namespace tilewright::tools
