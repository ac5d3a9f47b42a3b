#include "codegen/cuda/emulator/shared_memory.h"

#include <algorithm>
#include <cstring>

namespace tilewright::cuda {
namespace {

constexpr uint8_t kPoison = 0xff;
constexpr uint32_t kEpochLimit = 1u << 31;

}  // namespace

SharedMemory::SharedMemory(uint32_t bytes, Checks checks) : bytes_(bytes), checks_(checks) {
  if (checks.races || checks.uninitialized) cells_.resize(bytes);
}

void SharedMemory::start() {
  std::fill(bytes_.begin(), bytes_.end(), kPoison);
  if (epoch_ > kEpochLimit || unfinished_ > 0) {
    std::fill(cells_.begin(), cells_.end(), Cell{});
    epoch_ = unfinished_ = 0;
  }
  first_epoch_ = ++epoch_;
}

SharedMemory::Finding SharedMemory::read(uint32_t thread, void* to, uint32_t offset, uint32_t count,
                                         uint32_t alignment) {
  if (Finding bad = check_place(offset, count, alignment); bad.problem != Problem::kNone)
    return bad;
  if (!cells_.empty()) {
    for (Cell *cell = &cells_[offset], *end = cell + count; cell != end; ++cell) {
      auto at = static_cast<uint32_t>(cell - cells_.data());
      if (cell->written < first_epoch_ && checks_.uninitialized)
        return {Problem::kUninitialized, at, 0};
      if (cell->written == kUnfinished) return {Problem::kReadUnfinished, at, cell->writer};
      if (cell->written == epoch_ && cell->writer != thread && checks_.races)
        return {Problem::kReadAfterWrite, at, cell->writer};
      bool shared = cell->read == epoch_ && cell->reader != thread;
      cell->reader = shared ? kSeveral : static_cast<uint16_t>(thread);
      cell->read = epoch_;
    }
  }
  std::memcpy(to, &bytes_[offset], count);
  return {};
}

SharedMemory::Finding SharedMemory::write(uint32_t thread, uint32_t offset, const void* from,
                                          uint32_t count, uint32_t alignment) {
  if (Finding bad = check_place(offset, count, alignment); bad.problem != Problem::kNone)
    return bad;
  Finding found = mark_written(thread, offset, count, epoch_);
  if (found.problem == Problem::kNone) std::memcpy(&bytes_[offset], from, count);
  return found;
}

SharedMemory::Finding SharedMemory::add(uint32_t thread, uint32_t offset, uint32_t value) {
  constexpr uint32_t kBytes = sizeof(value);
  if (Finding bad = check_place(offset, kBytes, kBytes); bad.problem != Problem::kNone) return bad;
  for (uint32_t at = offset; at < offset + kBytes && !cells_.empty(); ++at) {
    Cell& cell = cells_[at];
    if (cell.written < first_epoch_ && checks_.uninitialized)
      return {Problem::kUninitialized, at, 0};
    if (cell.written == kUnfinished) return {Problem::kReadUnfinished, at, cell.writer};
    bool others = cell.writer != thread && cell.writer != kSeveral;
    if (cell.written == epoch_ && others && checks_.races)
      return {Problem::kWriteAfterWrite, at, cell.writer};
    if (cell.read == epoch_ && cell.reader != thread && checks_.races)
      return {Problem::kWriteAfterRead, at, cell.reader};
    cell.writer = kSeveral;
    cell.written = epoch_;
  }
  uint32_t sum;
  std::memcpy(&sum, &bytes_[offset], kBytes);
  sum += value;
  std::memcpy(&bytes_[offset], &sum, kBytes);
  return {};
}

SharedMemory::Finding SharedMemory::start_copy(uint32_t thread, uint32_t offset, uint32_t count) {
  if (Finding bad = check_place(offset, count, count); bad.problem != Problem::kNone) return bad;
  Finding found = mark_written(thread, offset, count, kUnfinished);
  if (found.problem != Problem::kNone) return found;
  std::memset(&bytes_[offset], kPoison, count);
  unfinished_ += count;
  return {};
}

void SharedMemory::land_copy(uint32_t offset, const void* from, uint32_t count) {
  if (!cells_.empty())
    for (uint32_t i = offset; i < offset + count; ++i) cells_[i].written = epoch_;
  std::memcpy(&bytes_[offset], from, count);
  unfinished_ -= count;
}

// Checks that a thread may write these bytes now, and records that it did in `epoch`.
SharedMemory::Finding SharedMemory::mark_written(uint32_t thread, uint32_t offset, uint32_t count,
                                                 uint32_t epoch) {
  if (cells_.empty()) return {};
  for (Cell *cell = &cells_[offset], *end = cell + count; cell != end; ++cell) {
    auto at = static_cast<uint32_t>(cell - cells_.data());
    if (cell->written == kUnfinished) return {Problem::kWriteUnfinished, at, cell->writer};
    if (cell->written == epoch_ && cell->writer != thread && checks_.races)
      return {Problem::kWriteAfterWrite, at, cell->writer};
    if (cell->read == epoch_ && cell->reader != thread && checks_.races)
      return {Problem::kWriteAfterRead, at, cell->reader};
    cell->writer = static_cast<uint16_t>(thread);
    cell->written = epoch;
  }
  return {};
}

}  // namespace tilewright::cuda
