// Finds and loads NVRTC at run time. Its few functions are declared here, so that no CUDA header
// and no link-time dependency is needed (ABI: nvrtc.h of CUDA 12 and 13; enums are ints).
//
// Two libraries are needed: libnvrtc.so.N and libnvrtc-builtins.so.N.M. NVRTC opens the second one
// by its bare name, which fails unless the loader path has it; so it is opened here by absolute
// path first. The ".alt" twins of both compile with 32-bit `long` and are never taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {

struct NvrtcApi {
  using Program = void*;
  static constexpr int kSuccess = 0, kInvalidOption = 5, kCompilation = 6;

  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int header_count,
                const char* const* headers, const char* const* header_names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int option_count, const char* const* options) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  std::vector<int> architectures;  // 75, 80, …: what it compiles for
  NvrtcInfo info;
};

struct NvrtcSearch {
  std::string override_path;  // TILEWRIGHT_NVRTC: a file or a folder; nothing else is tried then
  bool use_loader_path = true;
  std::vector<std::string> folders;
};

// What the environment, this process's own location and the usual places say.
NvrtcSearch default_nvrtc_search();
// A new search; the error `no-nvrtc` lists every place and why it was no good.
Result<NvrtcApi> load_nvrtc(const NvrtcSearch& search);
// The library of this process, searched for once. Thread-safe.
const Result<NvrtcApi>& nvrtc();

}  // namespace tilewright::cuda
