// cp.async: what a copy's start, its landing, and the end of its thread check.
#include <fmt/format.h>

#include <cstring>

#include "codegen/cuda/emulator/block.h"
#include "codegen/cuda/emulator/thread.h"

namespace tilewright::cuda {

// The source is checked already; `address` 0 stands for zeros.
void Block::start_copy(Thread& thread, uint32_t offset, uint64_t address, uint32_t bytes) {
  AsyncCopy copy;
  copy.offset = offset;
  copy.address = address;
  copy.bytes = bytes;
  copy.site = thread.site;
  if (address != 0)
    std::memcpy(copy.at_start.data(), reinterpret_cast<const void*>(address), bytes);
  check_shared(shared_.start_copy(thread.index, offset, bytes), offset, bytes, true, thread.index);
  thread.copies.start(copy);
}

void Block::land_copies(Thread& thread, uint32_t pending) {
  while (const AsyncCopy* copy = thread.copies.next_to_land(pending)) {
    std::array<uint8_t, 16> now{};
    if (copy->address != 0)
      std::memcpy(now.data(), reinterpret_cast<const void*>(copy->address), copy->bytes);
    if (now != copy->at_start)
      fail(DiagKind::kDataRace,
           fmt::format("the {} bytes at global address {:#x} changed while {} ({}:{}) was copying "
                       "them",
                       copy->bytes, copy->address, copy->site.intrinsic, copy->site.at.file,
                       copy->site.at.line),
           thread);
    shared_.land_copy(copy->offset, now.data(), copy->bytes);
  }
}

void Block::check_copies_finished(Thread& thread) {
  const AsyncCopy* left = thread.copies.oldest();
  if (left == nullptr) return;
  std::string message = fmt::format(
      "the thread ends without having waited for its copy of {} bytes to shared offset {}",
      left->bytes, left->offset);
  thread.site = left->site;
  fail(DiagKind::kUnfinishedCopy, std::move(message), thread);
}

// Which copy of `thread` has not landed on a byte.
std::string Block::describe_copy(uint32_t thread, uint32_t offset) const {
  const AsyncCopy* copy = threads_[thread]->copies.find(offset);
  if (copy == nullptr) return fmt::format("a copy of thread {}", thread);
  return fmt::format("the copy of thread {} at {}:{}", thread, copy->site.at.file,
                     copy->site.at.line);
}

}  // namespace tilewright::cuda
