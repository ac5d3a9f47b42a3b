#include "codegen/cuda/emulator/copy_queue.h"

namespace tilewright::cuda {

const AsyncCopy* CopyQueue::next_to_land(size_t pending) {
  while (groups_.size() > pending) {
    if (landed_ < groups_.front()) return &copies_[landed_++];
    groups_.erase(groups_.begin());
  }
  copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(landed_));
  for (size_t& end : groups_) end -= landed_;
  landed_ = 0;
  return nullptr;
}

const AsyncCopy* CopyQueue::find(uint32_t offset) const {
  for (size_t i = landed_; i < copies_.size(); ++i)
    if (offset - copies_[i].offset < copies_[i].bytes) return &copies_[i];
  return nullptr;
}

void CopyQueue::clear() {
  copies_.clear();
  groups_.clear();
  landed_ = 0;
}

}  // namespace tilewright::cuda
