// Fibers: stacks and the switch between them. A fiber here never returns; the scheduler abandons it
// by not switching to it again and reuses its stack. Kernel text owns nothing that would leak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codegen/cuda/prelude/host_abi.h"

namespace tilewright::cuda {

// Stacks for up to `count` fibers, each kTwStackBytes long and aligned. The lowest page of a stack
// holds its tw_thread; the page above is a guard, so that an overflow faults instead of writing
// over a neighbour. Pages are committed when first touched.
class FiberStacks {
 public:
  // Null when the address space is exhausted.
  static std::unique_ptr<FiberStacks> create(size_t count);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  size_t count() const { return count_; }
  char* base(size_t index) const { return first_ + index * kTwStackBytes; }
  tw_thread* thread(size_t index) const { return reinterpret_cast<tw_thread*>(base(index)); }

 private:
  FiberStacks(char* mapping, size_t bytes, char* first, size_t count)
      : mapping_(mapping), bytes_(bytes), first_(first), count_(count) {}

  char* mapping_;
  size_t bytes_;
  char* first_;
  size_t count_;
};

// A suspended context: a fiber, or the code that started the fibers.
class FiberContext {
 public:
  FiberContext();
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // For the context of the code that starts the fibers: call on its thread, before the first jump.
  void stand_for_this_thread();
  // Makes this the start of `entry(argument)` on a stack of FiberStacks. `entry` must not return.
  void prepare(char* stack_base, void (*entry)(void*), void* argument);
  // Suspends the running code as `from` and continues `to`.
  static void jump(FiberContext& from, FiberContext& to);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::cuda
