// A thread of an emulated block.
#pragma once

#include "codegen/cuda/emulator/block.h"
#include "codegen/cuda/emulator/copy_queue.h"

namespace tilewright::cuda {

struct Block::Thread {
  Block* block = nullptr;
  uint32_t index = 0;
  char* stack = nullptr;
  State state = State::kReady;
  Operation operation = Operation::kNone;  // while waiting
  Operands operands;
  tw_site site{};  // of the latest intrinsic
  CopyQueue copies;
  FiberContext context;
};

// What lies at the bottom of a thread's stack: the kernel's view, and the way back from it.
struct Block::Anchor {
  tw_thread abi;
  Thread* thread;
};

}  // namespace tilewright::cuda
