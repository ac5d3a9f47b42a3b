// What intrinsics do once they reach the emulator: checks, memory, and the warp-wide operations.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "codegen/cuda/emulator/atomics.h"
#include "codegen/cuda/emulator/block.h"
#include "codegen/cuda/emulator/thread.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

constexpr uint64_t kNullPage = 4096;
constexpr uint32_t kMatrixRows = 8, kRowBytes = 16;

// `copy` says which copy has not landed, if that is what was found.
std::string describe(const SharedMemory::Finding& finding, uint32_t offset, uint32_t bytes,
                     bool is_write, uint32_t size, const std::string& copy, DiagKind& kind) {
  using Problem = SharedMemory::Problem;
  const std::string access =
      fmt::format("{} of {} bytes at shared offset {}", is_write ? "write" : "read", bytes, offset);
  const std::string other = finding.other_thread == SharedMemory::kSeveral
                                ? std::string("several threads")
                                : fmt::format("thread {}", finding.other_thread);
  kind = DiagKind::kDataRace;
  switch (finding.problem) {
    case Problem::kOutOfBounds:
      kind = DiagKind::kSharedOutOfBounds;
      return fmt::format("{} is outside of the block's {} bytes", access, size);
    case Problem::kMisaligned:
      kind = DiagKind::kMisalignedAccess;
      return access + " is not aligned to its size";
    case Problem::kUninitialized:
      kind = DiagKind::kUninitializedRead;
      return fmt::format("{}: nothing has written byte {}", access, finding.offset);
    case Problem::kReadAfterWrite:
      return fmt::format("{}: byte {} was written by {} since the last barrier", access,
                         finding.offset, other);
    case Problem::kWriteAfterWrite:
      return fmt::format("{}: byte {} was also written by {} since the last barrier", access,
                         finding.offset, other);
    case Problem::kWriteAfterRead:
      return fmt::format("{}: byte {} was read by {} since the last barrier", access,
                         finding.offset, other);
    case Problem::kReadUnfinished:
    case Problem::kWriteUnfinished:
      kind = DiagKind::kUnfinishedCopy;
      return fmt::format("{}: {} has not landed on byte {} yet", access, copy, finding.offset);
    case Problem::kNone:
      break;
  }
  TW_UNREACHABLE("nothing to describe");
}

}  // namespace

Block::Meeting& Block::warp_of(const Thread& thread) {
  return warps_[thread.index / kWarpSize];
}

// ---- checks
// --------------------------------------------------------------------------------------
void Block::check_shared(const SharedMemory::Finding& finding, uint32_t offset, uint32_t bytes,
                         bool is_write, uint32_t thread) {
  if (finding.problem == SharedMemory::Problem::kNone) return;
  // Nothing that owns memory may be alive when the fiber is left for good.
  DiagKind kind = DiagKind::kInternal;
  using Problem = SharedMemory::Problem;
  const bool unfinished =
      finding.problem == Problem::kReadUnfinished || finding.problem == Problem::kWriteUnfinished;
  std::string message = describe(
      finding, offset, bytes, is_write, shared_.size(),
      unfinished ? describe_copy(finding.other_thread, finding.offset) : std::string(), kind);
  fail(kind, std::move(message), *threads_[thread]);
}

void Block::check_global(uint64_t address, uint32_t bytes, bool is_write, const Thread& thread) {
  auto access = [&] {
    return fmt::format("{} of {} bytes at global address {:#x}", is_write ? "write" : "read", bytes,
                       address);
  };
  if (address % bytes != 0)
    fail(DiagKind::kMisalignedAccess, access() + " is not aligned to its size", thread);
  if (address < kNullPage) fail(DiagKind::kOutOfBounds, access() + " is a null pointer's", thread);
  const EmulatorOptions& options = *setup_.options;
  if (options.check_bounds && options.may_access && !options.may_access(address, bytes, is_write))
    fail(DiagKind::kOutOfBounds, access() + " is outside of every argument", thread);
}

// ---- warp-wide operations
// ------------------------------------------------------------------------ The last thread of the
// warp to arrive runs these for all.
void Block::perform_shuffle(const Meeting& warp) {
  std::array<uint32_t, kWarpSize> values{};
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    values[lane] = threads_[warp.first + lane]->operands.value;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    Thread& thread = *threads_[warp.first + lane];
    uint32_t source = thread.operands.lane ^ (warp.variant != 0 ? lane : 0);
    if (source >= kWarpSize)
      fail(DiagKind::kBadIntrinsic, fmt::format("lane {} does not exist", source), thread);
    thread.operands.value = values[source];
  }
}

void Block::perform_matrix_load(const Meeting& warp) {
  const auto matrices = static_cast<uint32_t>(warp.variant & 7);
  const bool transposed = (warp.variant & 8) != 0;
  auto row_offset = [&](uint32_t matrix, uint32_t row) {
    return threads_[warp.first + matrix * kMatrixRows + row]->operands.value;
  };
  for (uint32_t i = 0; i < matrices * kMatrixRows; ++i) {
    uint32_t offset = row_offset(0, i);
    if (offset % kRowBytes != 0)
      fail(DiagKind::kMisalignedAccess,
           fmt::format("row {} of matrix {} at shared offset {} is not aligned to {} bytes",
                       i % kMatrixRows, i / kMatrixRows, offset, kRowBytes),
           *threads_[warp.first + i]);
  }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t index = warp.first + lane, quad = lane / 4, place = lane % 4;
    auto* d = static_cast<uint32_t*>(threads_[index]->operands.d);
    auto read = [&](void* to, uint32_t offset, uint32_t bytes) {
      check_shared(shared_.read(index, to, offset, bytes, 1), offset, bytes, false, index);
    };
    for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
      if (!transposed) {
        read(&d[matrix], row_offset(matrix, quad) + 4 * place, 4);
        continue;
      }
      uint16_t low = 0, high = 0;
      read(&low, row_offset(matrix, 2 * place) + 2 * quad, 2);
      read(&high, row_offset(matrix, 2 * place + 1) + 2 * quad, 2);
      d[matrix] = static_cast<uint32_t>(high) << 16 | low;
    }
  }
}

void Block::perform_matrix_multiply(const Meeting& warp) {
  std::array<void*, kWarpSize> d{};
  std::array<const void*, kWarpSize> a{}, b{};
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const Operands& operands = threads_[warp.first + lane]->operands;
    d[lane] = operands.d, a[lane] = operands.a, b[lane] = operands.b;
  }
  const Thread& first = *threads_[warp.first];
  MatrixProduct product{*first.operands.shape, d, a, b};
  product.is_sparse = first.operands.is_sparse;
  product.selector = first.operands.selector;
  product.scaling = first.operands.scaling;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const Operands& operands = threads_[warp.first + lane]->operands;
    product.metadata[lane] = product.scale_a[lane] = operands.value;
    product.scale_b[lane] = operands.lane;
  }
  std::string problem = multiply_accumulate(product);
  if (!problem.empty()) fail(DiagKind::kBadIntrinsic, std::move(problem), first);
}

// ---- the table that kernels call
// ----------------------------------------------------------------- Nothing may throw into the
// kernel's frames: what goes wrong inside becomes a fault.
struct Engine {
  using Thread = Block::Thread;

  template <class Body>
  static void call(tw_thread* abi, const tw_site* site, Body body) {
    Thread& thread = *reinterpret_cast<Block::Anchor*>(abi)->thread;
    thread.site = *site;
    if (--abi->fuel == 0) return out_of_fuel(abi, site);
    std::string problem;
    try {
      body(*thread.block, thread);
      return;
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = "an unknown exception";
    }
    thread.block->fail(DiagKind::kInternal, std::move(problem), thread);
  }

  static void out_of_fuel(tw_thread* abi, const tw_site* site) {
    Thread& thread = *reinterpret_cast<Block::Anchor*>(abi)->thread;
    thread.site = *site;
    thread.block->fail(
        DiagKind::kOutOfFuel,
        fmt::format("the thread has made more than {} steps", thread.block->setup_.options->fuel),
        thread);
  }
  static void barrier(tw_thread* abi, const tw_site* site) {
    call(abi, site, [](Block& block, Thread& thread) {
      block.meet(thread, block.all_, Block::Operation::kBarrier, 0, {});
    });
  }
  static void trap(tw_thread* abi, const tw_site* site) {
    call(abi, site, [](Block& block, Thread& thread) {
      block.fail(DiagKind::kAssertFailed, "the kernel stopped itself", thread);
    });
  }
  static unsigned shuffle(tw_thread* abi, unsigned value, unsigned lane, bool exclusive_or,
                          const tw_site* site) {
    unsigned result = 0;
    call(abi, site, [&](Block& block, Thread& thread) {
      Block::Operands operands;
      operands.value = value;
      operands.lane = lane;
      block.meet(thread, block.warp_of(thread), Block::Operation::kShuffle, exclusive_or, operands);
      result = thread.operands.value;
    });
    return result;
  }
  static void shared_read(tw_thread* abi, void* to, unsigned offset, unsigned bytes,
                          const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_shared(block.shared_.read(thread.index, to, offset, bytes, bytes), offset, bytes,
                         false, thread.index);
    });
  }
  static void shared_write(tw_thread* abi, unsigned offset, const void* from, unsigned bytes,
                           const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_shared(block.shared_.write(thread.index, offset, from, bytes, bytes), offset,
                         bytes, true, thread.index);
    });
  }
  static void shared_add(tw_thread* abi, unsigned offset, unsigned value, const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_shared(block.shared_.add(thread.index, offset, value), offset, sizeof(value),
                         true, thread.index);
    });
  }
  static void ldmatrix(tw_thread* abi, unsigned* d, unsigned offset, int matrices, bool transposed,
                       const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      Block::Operands operands;
      operands.d = d;
      operands.value = offset;
      block.meet(thread, block.warp_of(thread), Block::Operation::kMatrixLoad,
                 static_cast<uint64_t>(matrices) | (transposed ? 8u : 0u), operands);
    });
  }
  static void global_read(tw_thread* abi, void* to, unsigned long long address, unsigned bytes,
                          const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_global(address, bytes, false, thread);
      std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    });
  }
  static void global_write(tw_thread* abi, unsigned long long address, const void* from,
                           unsigned bytes, const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_global(address, bytes, true, thread);
      std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    });
  }
  static void copy_start(tw_thread* abi, unsigned offset, unsigned long long address,
                         unsigned bytes, bool read, const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      if (read) block.check_global(address, bytes, false, thread);
      block.start_copy(thread, offset, read ? address : 0, bytes);
    });
  }
  static void copy_commit(tw_thread* abi, const tw_site* site) {
    call(abi, site, [](Block&, Thread& thread) { thread.copies.commit(); });
  }
  static void copy_wait(tw_thread* abi, unsigned pending, const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) { block.land_copies(thread, pending); });
  }
  static unsigned long long atomic(tw_thread* abi, tw_atomic_op op, tw_atomic_type type,
                                   unsigned long long address, unsigned long long value,
                                   unsigned long long expected, const tw_site* site) {
    unsigned long long old = 0;
    call(abi, site, [&](Block& block, Thread& thread) {
      block.check_global(address, atomic_bytes(type), true, thread);
      old = atomic_update(op, type, address, value, expected);
    });
    return old;
  }
  static void mma(tw_thread* abi, const tw_mma_shape* shape, void* d, const void* a, const void* b,
                  const tw_site* site) {
    Block::Operands operands;
    operands.d = d, operands.a = a, operands.b = b, operands.shape = shape;
    multiply(abi, operands, 0, site);
  }
  static void mma_sparse(tw_thread* abi, const tw_mma_shape* shape, void* d, const void* a,
                         const void* b, unsigned metadata, int selector, const tw_site* site) {
    Block::Operands operands;
    operands.d = d, operands.a = a, operands.b = b, operands.shape = shape;
    operands.is_sparse = true;
    operands.value = metadata;
    operands.selector = selector;
    multiply(abi, operands, 16 | static_cast<uint64_t>(selector & 15), site);
  }
  static void mma_scaled(tw_thread* abi, const tw_mma_shape* shape, const tw_mma_scaling* scaling,
                         void* d, const void* a, const void* b, unsigned scale_a, unsigned scale_b,
                         const tw_site* site) {
    Block::Operands operands;
    operands.d = d, operands.a = a, operands.b = b, operands.shape = shape;
    operands.scaling = scaling;
    operands.value = scale_a;
    operands.lane = scale_b;
    auto selectors =
        static_cast<uint64_t>(scaling->byte_a | scaling->thread_a << 2 | scaling->byte_b << 4 |
                              scaling->thread_b << 6 | scaling->count << 8 | scaling->type << 11);
    multiply(abi, operands, 32 | selectors << 6, site);
  }
  // `form` is what has to be the same in all lanes beside the shape.
  static void multiply(tw_thread* abi, const Block::Operands& operands, uint64_t form,
                       const tw_site* site) {
    call(abi, site, [&](Block& block, Thread& thread) {
      const tw_mma_shape& shape = *operands.shape;
      uint64_t variant = static_cast<uint64_t>(shape.m) | static_cast<uint64_t>(shape.n) << 6 |
                         static_cast<uint64_t>(shape.k) << 12 |
                         static_cast<uint64_t>(shape.a) << 20 |
                         static_cast<uint64_t>(shape.b) << 25 |
                         static_cast<uint64_t>(shape.sum) << 30 | form << 33;
      block.meet(thread, block.warp_of(thread), Block::Operation::kMatrixMultiply, variant,
                 operands);
    });
  }
};

const tw_engine& engine() {
  static const tw_engine table = {
      &Engine::barrier,     &Engine::trap,         &Engine::out_of_fuel, &Engine::shuffle,
      &Engine::shared_read, &Engine::shared_write, &Engine::shared_add,  &Engine::ldmatrix,
      &Engine::global_read, &Engine::global_write, &Engine::copy_start,  &Engine::copy_commit,
      &Engine::copy_wait,   &Engine::atomic,       &Engine::mma,         &Engine::mma_sparse,
      &Engine::mma_scaled,
  };
  return table;
}

}  // namespace tilewright::cuda
