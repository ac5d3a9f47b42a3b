// A block's shared memory with a shadow that says of each byte who last wrote and read it, and
// when.
//
// Time is counted in epochs: each block-wide barrier starts a new one. Accesses of different
// threads in the same epoch are unordered, so they race if one of them writes; nothing smaller than
// the barrier (shuffles, mma) orders memory.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright::cuda {

class SharedMemory {
 public:
  // Checks beyond bounds and alignment, which are always checked.
  struct Checks {
    bool races = true;
    bool uninitialized = true;
  };
  enum class Problem : uint8_t {
    kNone,
    kOutOfBounds,
    kMisaligned,
    kUninitialized,  // read of a byte that nothing has written in this block
    kReadAfterWrite,
    kWriteAfterWrite,
    kWriteAfterRead,
    kReadUnfinished,  // read of a byte that a copy has not landed on yet
    kWriteUnfinished  // write, or second copy, to such a byte
  };
  struct Finding {
    Problem problem = Problem::kNone;
    uint32_t offset = 0;        // the first byte concerned
    uint32_t other_thread = 0;  // the other side of a race or copy; kSeveral if more than one
  };
  static constexpr uint16_t kSeveral = 0xffff;

  SharedMemory(uint32_t bytes, Checks checks);

  // Starts a block: contents are poison (all ones: NaN in every float format) and unwritten.
  void start();
  void barrier() { ++epoch_; }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

  // `alignment` is a power of two.
  Finding read(uint32_t thread, void* to, uint32_t offset, uint32_t count, uint32_t alignment);
  Finding write(uint32_t thread, uint32_t offset, const void* from, uint32_t count,
                uint32_t alignment);

  // Adds to four bytes. Additions of several threads do not race with each other.
  Finding add(uint32_t thread, uint32_t offset, uint32_t value);

  // A copy of a thread into these bytes begins: until it lands they are poison that nobody may
  // touch. Where it lands, the bytes are as if the thread wrote them then.
  Finding start_copy(uint32_t thread, uint32_t offset, uint32_t count);
  void land_copy(uint32_t offset, const void* from, uint32_t count);

 private:
  // Epoch 0 is never current. A record older than the block's first epoch counts as none. While a
  // copy is under way `written` is kUnfinished and `writer` the thread that copies.
  struct Cell {
    uint32_t written = 0, read = 0;
    // kSeveral: reader if several threads read in that epoch, writer if any added.
    uint16_t writer = 0, reader = 0;
  };

  static constexpr uint32_t kUnfinished = ~0u;

  Finding mark_written(uint32_t thread, uint32_t offset, uint32_t count, uint32_t epoch);
  Finding check_place(uint32_t offset, uint32_t count, uint32_t alignment) const {
    if (offset > size() || count > size() - offset) return {Problem::kOutOfBounds, offset, 0};
    if (offset & (alignment - 1)) return {Problem::kMisaligned, offset, 0};
    return {};
  }

  std::vector<uint8_t> bytes_;
  std::vector<Cell> cells_;
  Checks checks_;
  uint32_t first_epoch_ = 0, epoch_ = 0;
  uint32_t unfinished_ = 0;  // bytes that copies have yet to land on
};

}  // namespace tilewright::cuda
