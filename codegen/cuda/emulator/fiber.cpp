// The switch is 20 instructions on x86-64; elsewhere, or with TILEWRIGHT_FIBER_UCONTEXT, it is
// ucontext's, which is some twenty times slower because it saves the signal mask by system calls.
#include "codegen/cuda/emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(TILEWRIGHT_FIBER_UCONTEXT)
#define TW_FIBER_ASM 1
#else
#define TW_FIBER_ASM 0
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TW_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_FIBER_ASAN 1
#endif
#endif
#ifdef TW_FIBER_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tilewright::cuda {
namespace {

// AddressSanitizer has to be told when the stack changes.
void* leaving([[maybe_unused]] const char* bottom, [[maybe_unused]] size_t size) {
  void* fake_stack = nullptr;
#ifdef TW_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fake_stack, bottom, size);
#endif
  return fake_stack;
}

void arrived([[maybe_unused]] void* fake_stack) {
#ifdef TW_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

// Frames of an abandoned fiber never return, so the marks around their variables stay behind.
void forget_frames([[maybe_unused]] char* bottom) {
#ifdef TW_FIBER_ASAN
  __asan_unpoison_memory_region(bottom, kTwStackBytes);
#endif
}

}  // namespace

std::unique_ptr<FiberStacks> FiberStacks::create(size_t count) {
  size_t bytes = (count + 1) * kTwStackBytes;  // one more, to align the first
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto address = reinterpret_cast<uintptr_t>(mapping);
  auto first = reinterpret_cast<char*>((address + kTwStackBytes - 1) & ~(kTwStackBytes - 1));
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::unique_ptr<FiberStacks> stacks(
      new FiberStacks(static_cast<char*>(mapping), bytes, first, count));
  for (size_t i = 0; i < count; ++i)
    if (mprotect(stacks->base(i) + page, page, PROT_NONE) != 0) return nullptr;
  return stacks;
}

FiberStacks::~FiberStacks() {
  munmap(mapping_, bytes_);
}

#if TW_FIBER_ASM

// Saves what a callee must preserve (System V ABI), exchanges the stack pointers, restores. The
// first jump to a fiber "returns" into tw_fiber_start with entry and argument in r12 and r13.
asm(R"(
.text
.p2align 4
.type tw_fiber_switch, @function
tw_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tw_fiber_switch, .-tw_fiber_switch
.p2align 4
.type tw_fiber_start, @function
tw_fiber_start:
  xorl %ebp, %ebp
  movq %r13, %rdi
  call *%r12
  ud2
.size tw_fiber_start, .-tw_fiber_start
)");
extern "C" void tw_fiber_switch(void** save, void* restore) asm("tw_fiber_switch");
extern "C" void tw_fiber_start() asm("tw_fiber_start");

struct FiberContext::State {
  void* stack_pointer = nullptr;
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;
  char* bottom = nullptr;
  size_t size = 0;

  static void start(void* state) {
    arrived(nullptr);
    static_cast<State*>(state)->entry(static_cast<State*>(state)->argument);
  }
};

void FiberContext::prepare(char* stack_base, void (*entry)(void*), void* argument) {
  state_->entry = entry;
  state_->argument = argument;
  state_->bottom = stack_base;
  state_->size = kTwStackBytes;
  forget_frames(stack_base);
  // Aligned to 16 when tw_fiber_start runs, as a call instruction expects.
  auto top = reinterpret_cast<void**>(stack_base + kTwStackBytes - 64);
  void** at = top;
  *--at = reinterpret_cast<void*>(&tw_fiber_start);  // return address
  *--at = nullptr;                                   // rbp
  *--at = nullptr;                                   // rbx
  *--at = reinterpret_cast<void*>(&State::start);    // r12
  *--at = state_.get();                              // r13
  *--at = nullptr;                                   // r14
  *--at = nullptr;                                   // r15
  state_->stack_pointer = at;
}

void FiberContext::jump(FiberContext& from, FiberContext& to) {
  void* fake_stack = leaving(to.state_->bottom, to.state_->size);
  tw_fiber_switch(&from.state_->stack_pointer, to.state_->stack_pointer);
  arrived(fake_stack);
}

#else  // ucontext

struct FiberContext::State {
  ucontext_t context{};
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;
  char* bottom = nullptr;
  size_t size = 0;

  // makecontext passes ints only.
  static void start(unsigned low, unsigned high) {
    auto* state = reinterpret_cast<State*>(static_cast<uintptr_t>(high) << 32 | low);
    arrived(nullptr);
    state->entry(state->argument);
  }
};

void FiberContext::prepare(char* stack_base, void (*entry)(void*), void* argument) {
  state_->entry = entry;
  state_->argument = argument;
  state_->bottom = stack_base;
  state_->size = kTwStackBytes;
  forget_frames(stack_base);
  getcontext(&state_->context);
  state_->context.uc_stack.ss_sp = stack_base;
  state_->context.uc_stack.ss_size = kTwStackBytes - 64;
  state_->context.uc_link = nullptr;
  auto address = reinterpret_cast<uintptr_t>(state_.get());
  makecontext(&state_->context, reinterpret_cast<void (*)()>(&State::start), 2,
              static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
}

void FiberContext::jump(FiberContext& from, FiberContext& to) {
  void* fake_stack = leaving(to.state_->bottom, to.state_->size);
  swapcontext(&from.state_->context, &to.state_->context);
  arrived(fake_stack);
}

#endif

FiberContext::FiberContext() : state_(std::make_unique<State>()) {}
FiberContext::~FiberContext() = default;

void FiberContext::stand_for_this_thread() {
#ifdef TW_FIBER_ASAN
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  pthread_attr_getstack(&attributes, &bottom, &state_->size);
  state_->bottom = static_cast<char*>(bottom);
  pthread_attr_destroy(&attributes);
#endif
}

}  // namespace tilewright::cuda
