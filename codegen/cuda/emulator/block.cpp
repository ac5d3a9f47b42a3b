#include "codegen/cuda/emulator/block.h"

#include <fmt/format.h>

#include <bit>

#include "codegen/cuda/emulator/thread.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

std::string describe(const tw_site& site) {
  return fmt::format("{} ({}:{})", site.intrinsic, site.at.file, site.at.line);
}

}  // namespace

Block::Block(const Setup& setup, FiberStacks& stacks)
    : setup_(setup),
      shared_(setup.shared_bytes, {setup.options->check_races, setup.options->check_uninitialized}),
      warps_(setup.threads / kWarpSize),
      ready_(warps_.size()) {
  TW_CHECK(setup.threads % kWarpSize == 0 && stacks.count() >= setup.threads, "block size");
  all_ = {0, setup.threads, 0, Operation::kNone, 0};
  for (uint32_t i = 0; i < warps_.size(); ++i)
    warps_[i] = {i * kWarpSize, kWarpSize, 0, Operation::kNone, 0};
  for (uint32_t i = 0; i < setup.threads; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->index = i;
    thread->block = this;
    thread->stack = stacks.base(i);
    auto* anchor = new (stacks.base(i)) Anchor{};
    anchor->thread = thread.get();
    anchor->abi.engine = &engine();
    anchor->abi.thread = i;
    for (int axis = 0; axis < 3; ++axis) anchor->abi.grid_dim[axis] = setup.grid[axis];
    threads_.push_back(std::move(thread));
  }
  caller_.stand_for_this_thread();
}

Block::~Block() = default;

std::optional<Fault> Block::run(const std::array<uint32_t, 3>& block_id) {
  fault_.reset();
  ended_ = 0;
  current_warp_ = 0;
  all_.arrived = 0;
  for (Meeting& warp : warps_) warp.arrived = 0;
  shared_.start();
  for (auto& thread : threads_) {
    thread->state = State::kReady;
    thread->site = {"", {"", 0}};
    thread->copies.clear();
    auto& abi = reinterpret_cast<Anchor*>(thread->stack)->abi;
    for (int axis = 0; axis < 3; ++axis) abi.block_id[axis] = block_id[axis];
    abi.fuel = setup_.options->fuel == 0 ? ~0ull : setup_.options->fuel;
    thread->context.prepare(thread->stack, &fiber_main, thread.get());
    set_ready(*thread, true);
  }
  current_ = next_ready();
  FiberContext::jump(caller_, current_->context);
  if (fault_) fault_->block_id = block_id;
  return fault_;
}

void Block::fiber_main(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  Block& block = *thread->block;
  block.setup_.function(reinterpret_cast<const unsigned long long*>(block.setup_.arguments.data()));
  block.check_copies_finished(*thread);
  thread->state = State::kEnded;
  block.set_ready(*thread, false);
  ++block.ended_;
  block.run_others(*thread);
  TW_UNREACHABLE("an ended thread was resumed");
}

void Block::set_ready(const Thread& thread, bool ready) {
  uint32_t bit = 1u << thread.index % kWarpSize;
  uint32_t& mask = ready_[thread.index / kWarpSize];
  mask = ready ? mask | bit : mask & ~bit;
}

// The lowest lane that can run, of the current warp or else of the next.
Block::Thread* Block::next_ready() {
  for (size_t i = 0; i < ready_.size(); ++i) {
    size_t warp = (current_warp_ + i) % ready_.size();
    if (ready_[warp] == 0) continue;
    current_warp_ = static_cast<uint32_t>(warp);
    return threads_[warp * kWarpSize + static_cast<size_t>(std::countr_zero(ready_[warp]))].get();
  }
  return nullptr;
}

// Suspends `thread` until it is ready again and the others have had their turn.
void Block::run_others(Thread& thread) {
  Thread* next = next_ready();
  if (next == nullptr) {
    if (ended_ < setup_.threads) report_divergence();
    FiberContext::jump(thread.context, caller_);
    return;
  }
  current_ = next;
  FiberContext::jump(thread.context, next->context);
}

void Block::meet(Thread& thread, Meeting& meeting, Operation operation, uint64_t variant,
                 const Operands& operands) {
  if (meeting.arrived == 0) {
    meeting.operation = operation;
    meeting.variant = variant;
  } else if (meeting.operation != operation || meeting.variant != variant) {
    uint32_t i = meeting.first;
    while (threads_[i]->state != State::kWaiting) ++i;
    std::string message =
        fmt::format("thread {} of the same warp waits at {}", i, describe(threads_[i]->site));
    fail(DiagKind::kDivergence, std::move(message), thread);
  }
  thread.operands = operands;
  thread.operation = operation;
  thread.state = State::kWaiting;
  set_ready(thread, false);
  if (++meeting.arrived < meeting.count) return run_others(thread);
  perform(meeting);
  release(meeting);
}

void Block::perform(Meeting& meeting) {
  switch (meeting.operation) {
    case Operation::kBarrier:
      return shared_.barrier();
    case Operation::kShuffle:
      return perform_shuffle(meeting);
    case Operation::kMatrixLoad:
      return perform_matrix_load(meeting);
    case Operation::kMatrixMultiply:
      return perform_matrix_multiply(meeting);
    case Operation::kNone:
      break;
  }
  TW_UNREACHABLE("a meeting without an operation");
}

void Block::release(Meeting& meeting) {
  meeting.arrived = 0;
  for (uint32_t i = meeting.first; i < meeting.first + meeting.count; ++i) {
    threads_[i]->state = State::kReady;
    set_ready(*threads_[i], true);
  }
}

// Nobody can run: names one thread that waits and one that will never come.
void Block::report_divergence() {
  const Thread* waiting = nullptr;
  for (auto& thread : threads_)
    if (thread->state == State::kWaiting && !waiting) waiting = thread.get();
  const bool at_barrier = all_.arrived > 0 && waiting->operation == Operation::kBarrier;
  for (auto& other : threads_) {
    bool together = at_barrier || other->index / kWarpSize == waiting->index / kWarpSize;
    if (!together || (other->state == State::kWaiting && other->operation == waiting->operation))
      continue;
    std::string message = fmt::format("waits for thread {}, which ", other->index);
    message += other->state == State::kEnded ? "has ended" : "waits at " + describe(other->site);
    fail(DiagKind::kDivergence, std::move(message), *waiting);
  }
  fail(DiagKind::kDivergence, "waits for ever", *waiting);
}

void Block::fail(DiagKind kind, std::string message, const Thread& thread) {
  fault_ = Fault{kind,
                 std::move(message),
                 thread.site.intrinsic,
                 thread.site.at.file,
                 thread.site.at.line,
                 thread.index,
                 {}};
  FiberContext::jump(current_->context, caller_);
  TW_UNREACHABLE("an abandoned fiber was resumed");
}

}  // namespace tilewright::cuda
