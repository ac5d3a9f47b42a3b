// Runs the threads of one block as fibers on the calling OS thread.
//
// Threads run one at a time, in order, until they meet: at the block's barrier, at a warp-wide
// operation, or at their end. The last to arrive carries the operation out for all (its `Meeting`
// holds every participant's operands), so warps move in lock step at collectives and each operation
// is one function over all lanes. When nobody can run and not all have ended, the threads have
// diverged, and the block fails instead of hanging.
//
// Asynchronous copies wait in a queue of their thread (copy_queue.h) until it waits for them. To
// add another asynchronous unit: give it a queue here, let its wait operation land what it must,
// and count its completion like a meeting.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/emulator/fiber.h"
#include "codegen/cuda/emulator/matrix.h"
#include "codegen/cuda/emulator/shared_memory.h"

namespace tilewright::cuda {

using KernelFunction = void (*)(const unsigned long long* arguments);

// What went wrong, before it is put into words for the user.
struct Fault {
  DiagKind kind = DiagKind::kInternal;
  std::string message;
  std::string intrinsic, file;
  int line = 0;
  uint32_t thread = 0;
  std::array<uint32_t, 3> block_id{};
};

class Block {
 public:
  struct Setup {
    KernelFunction function = nullptr;
    uint32_t threads = 0;  // a multiple of the warp size
    uint32_t shared_bytes = 0;
    const EmulatorOptions* options = nullptr;
    std::span<const uint64_t> arguments;
    std::array<uint32_t, 3> grid{};
  };

  // The stacks must hold setup.threads fibers and serve no other block at the time.
  Block(const Setup& setup, FiberStacks& stacks);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs the block of this index; may be called again for the next one.
  std::optional<Fault> run(const std::array<uint32_t, 3>& block_id);

 private:
  friend struct Engine;

  enum class Operation : uint8_t { kNone, kBarrier, kShuffle, kMatrixLoad, kMatrixMultiply };
  enum class State : uint8_t { kReady, kWaiting, kEnded };

  // The operands of a participant, on its own stack, which stands still while it waits.
  struct Operands {
    void* d = nullptr;
    const void *a = nullptr, *b = nullptr;
    const tw_mma_shape* shape = nullptr;
    const tw_mma_scaling* scaling = nullptr;
    bool is_sparse = false;
    int selector = 0;
    uint32_t value = 0, lane = 0;  // a shuffle's; sparse metadata; scales of A and B
  };
  struct Thread;
  struct Anchor;
  // A group of consecutive threads that must all arrive at one operation.
  struct Meeting {
    uint32_t first = 0, count = 0, arrived = 0;
    Operation operation = Operation::kNone;
    uint64_t variant = 0;  // what else must be equal, such as the shape of an mma
  };

  // Scheduling (block.cpp).
  static void fiber_main(void* thread);
  void meet(Thread& thread, Meeting& meeting, Operation operation, uint64_t variant,
            const Operands& operands);
  void perform(Meeting& meeting);
  void release(Meeting& meeting);
  void set_ready(const Thread& thread, bool ready);
  void run_others(Thread& thread);
  Thread* next_ready();
  void report_divergence();
  // Ends the block: records what happened to `thread` and leaves the running fiber for good.
  [[noreturn]] void fail(DiagKind kind, std::string message, const Thread& thread);

  // Operations (operations.cpp).
  Meeting& warp_of(const Thread& thread);
  void perform_shuffle(const Meeting& warp);
  void perform_matrix_load(const Meeting& warp);
  void perform_matrix_multiply(const Meeting& warp);
  void check_shared(const SharedMemory::Finding& finding, uint32_t offset, uint32_t bytes,
                    bool is_write, uint32_t thread);
  void check_global(uint64_t address, uint32_t bytes, bool is_write, const Thread& thread);

  // Asynchronous copies (async_copies.cpp).
  void start_copy(Thread& thread, uint32_t offset, uint64_t address, uint32_t bytes);
  void land_copies(Thread& thread, uint32_t pending);
  void check_copies_finished(Thread& thread);
  std::string describe_copy(uint32_t thread, uint32_t offset) const;

  Setup setup_;
  SharedMemory shared_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Meeting> warps_;
  Meeting all_;
  std::vector<uint32_t> ready_;  // a bit a lane, by warp
  uint32_t current_warp_ = 0, ended_ = 0;
  Thread* current_ = nullptr;
  FiberContext caller_;
  std::optional<Fault> fault_;
};

// What kernels call (operations.cpp).
const tw_engine& engine();

}  // namespace tilewright::cuda
