// Cache keys, and what a compiled CUDA kernel looks like on disk.
//
// Under the exact key lies the kernel: metadata and cubin. Under the fast key lies an alias: the
// exact key, and which NVRTC library made it (path, size, time), so that a new NVRTC is noticed
// without loading it.
#pragma once

#include <optional>

#include "runtime/compile/compile.h"

namespace tilewright::runtime {

cache::Hash128 exact_key(const cuda::Source& source, const Target& target,
                         const cuda::NvrtcInfo& nvrtc, const cuda::Options& options);

std::optional<cache::Hash128> load_alias(cache::DiskCache& disk, const cache::Hash128& fast);
void store_alias(cache::DiskCache& disk, const cache::Hash128& fast, const cache::Hash128& exact,
                 const cuda::NvrtcInfo& nvrtc);

// Fills the CUDA part of `out`; keeps the text of out.source if there is one. False on a miss.
bool load_entry(cache::DiskCache& disk, const cache::Hash128& exact, CompiledKernel& out);
void store_entry(cache::DiskCache& disk, const cache::Hash128& exact, const CompiledKernel& kernel);

}  // namespace tilewright::runtime
