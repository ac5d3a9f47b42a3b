// The asynchronous copies (cp.async) of one thread that have not landed.
//
// Copies land as late as the waits allow: a group stays in the queue until a wait names it, however
// long that takes, so that a missing wait shows. The source is looked at twice, at the start and at
// landing, between which the machine may read it at any time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/cuda/prelude/host_abi.h"

namespace tilewright::cuda {

struct AsyncCopy {
  uint32_t offset = 0;   // in shared memory
  uint64_t address = 0;  // in global memory; 0: zeros
  uint32_t bytes = 0;
  std::array<uint8_t, 16> at_start{};  // what the source held
  tw_site site{};
};

class CopyQueue {
 public:
  void start(const AsyncCopy& copy) { copies_.push_back(copy); }
  void commit() { groups_.push_back(copies_.size()); }
  // Takes the next copy that must land when no more than `pending` groups may stay; null if none.
  const AsyncCopy* next_to_land(size_t pending);
  // The unfinished copy that will write this byte of shared memory, or null.
  const AsyncCopy* find(uint32_t offset) const;
  // The oldest unfinished copy, or null.
  const AsyncCopy* oldest() const { return landed_ < copies_.size() ? &copies_[landed_] : nullptr; }
  void clear();

 private:
  std::vector<AsyncCopy> copies_;  // the first landed_ are done
  std::vector<size_t> groups_;     // where each group that is not done ends in copies_
  size_t landed_ = 0;
};

}  // namespace tilewright::cuda
