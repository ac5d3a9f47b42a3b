// The CUDA driver, loaded at run time: our own declarations of the few entry points that are used
// (driver_functions.def), so that neither CUDA's headers nor its libraries are needed to build, and
// the program starts on machines without a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dsl/base/result.h"

namespace tilewright::device {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctxObject*;
using CUmodule = struct CUmodObject*;
using CUfunction = struct CUfuncObject*;
using CUstream = struct CUstreamObject*;
using CUevent = struct CUeventObject*;
using CUgraph = struct CUgraphObject*;
using CUgraphExec = struct CUgraphExecObject*;

struct Driver {
#define TW_CU(member, symbol, ...)        \
  using member##_signature = __VA_ARGS__; \
  member##_signature* member = nullptr;
#include "runtime/device/driver_functions.def"
#undef TW_CU

  std::string library;  // what was loaded
  int version = 0;      // 13000 for CUDA 13.0
};

// Loads and initialises the driver on the first call; later calls give the same answer. The error
// `no-driver` names what was searched or what is wrong with what was found.
// TILEWRIGHT_CUDA_DRIVER names another library, or `none` to act as if there were no driver.
Result<const Driver*> driver();

// Loads one library without keeping the answer; what driver() does for each candidate (tests).
Result<Driver> load_driver(const std::string& library);

// `result` of the entry point `call` as an error: its name and text in the driver's words.
// Out of memory has its own kind. Must not be called with success (0).
ErrorInfo cuda_error(const Driver& driver, const char* call, CUresult result);

}  // namespace tilewright::device

// Calls `driver.member(arguments…)`; returns its failure from the calling function as an error.
#define TW_CUDA(driver, member, ...)                                        \
  do {                                                                      \
    if (int tw_code_ = (driver).member(__VA_ARGS__); tw_code_ != 0)         \
      return ::tilewright::device::cuda_error((driver), #member, tw_code_); \
  } while (false)
