// The boundary between an emitted kernel built for the host and the emulator that runs it. Both
// sides include this text: the emulator as a header, the kernel as a part of its prelude.
//
// Each thread of a block is a fiber; the tw_thread of a fiber lies at the bottom of its stack,
// whose size and alignment is kTwStackBytes, so that an intrinsic finds it from the stack pointer.
#pragma once

enum : unsigned long long { kTwStackBytes = 1ull << 20 };

// Where an intrinsic was called, for messages. Built by default arguments, so it names the caller.
struct tw_at {
  const char* file;
  int line;
  constexpr tw_at(const char* f = __builtin_FILE(), int l = __builtin_LINE()) : file(f), line(l) {}
};
struct tw_site {
  const char* intrinsic;
  tw_at at;
};

enum tw_atomic_op : int {
  kTwAdd,
  kTwMin,
  kTwMax,
  kTwAnd,
  kTwOr,
  kTwXor,
  kTwExchange,
  kTwCompareSwap
};
enum tw_atomic_type : int {
  kTwI32,
  kTwI64,
  kTwU16,
  kTwU32,
  kTwU64,
  kTwF16,
  kTwBf16,
  kTwF32,
  kTwF64
};

// Operand and accumulator types of tensor-core multiplications.
enum tw_mma_type : int {
  kTwMmaF16,
  kTwMmaBf16,
  kTwMmaTf32,
  kTwMmaI8,
  kTwMmaU8,
  kTwMmaI4,
  kTwMmaU4,
  kTwMmaE4m3,
  kTwMmaE5m2,
  kTwMmaF64,
  kTwMmaE2m1
};
enum tw_mma_sum : int { kTwSumF32, kTwSumF16, kTwSumI32, kTwSumF64 };
struct tw_mma_shape {
  int m, n, k;
  tw_mma_type a, b;
  tw_mma_sum sum;
};
// Scales of block-scaled multiplications: `count` of them for each row of A and column of B.
enum tw_mma_scale : int { kTwScaleUe8m0, kTwScaleUe4m3 };
struct tw_mma_scaling {
  tw_mma_scale type;
  int count;
  int byte_a, thread_a, byte_b, thread_b;
};

struct tw_thread;

// The emulator's side. None of these returns after a fault: the fiber is abandoned.
struct tw_engine {
  void (*barrier)(tw_thread*, const tw_site*);
  void (*trap)(tw_thread*, const tw_site*);
  void (*out_of_fuel)(tw_thread*, const tw_site*);
  // Lane `lane` of the warp, or own lane ^ `lane`.
  unsigned (*shuffle)(tw_thread*, unsigned value, unsigned lane, bool exclusive_or, const tw_site*);
  void (*shared_read)(tw_thread*, void* to, unsigned offset, unsigned bytes, const tw_site*);
  void (*shared_write)(tw_thread*, unsigned offset, const void* from, unsigned bytes,
                       const tw_site*);
  void (*shared_add)(tw_thread*, unsigned offset, unsigned value, const tw_site*);
  void (*ldmatrix)(tw_thread*, unsigned* d, unsigned offset, int matrices, bool transposed,
                   const tw_site*);
  void (*global_read)(tw_thread*, void* to, unsigned long long address, unsigned bytes,
                      const tw_site*);
  void (*global_write)(tw_thread*, unsigned long long address, const void* from, unsigned bytes,
                       const tw_site*);
  // Asynchronous copies from global to shared memory; zeros where not `read`.
  void (*copy_start)(tw_thread*, unsigned offset, unsigned long long address, unsigned bytes,
                     bool read, const tw_site*);
  void (*copy_commit)(tw_thread*, const tw_site*);
  void (*copy_wait)(tw_thread*, unsigned pending, const tw_site*);
  // Values by their bits in the low bytes; gives the old value.
  unsigned long long (*atomic)(tw_thread*, tw_atomic_op, tw_atomic_type, unsigned long long address,
                               unsigned long long value, unsigned long long expected,
                               const tw_site*);
  void (*mma)(tw_thread*, const tw_mma_shape*, void* d, const void* a, const void* b,
              const tw_site*);
  // A holds half of its columns; which ones say the threads that `selector` names.
  void (*mma_sparse)(tw_thread*, const tw_mma_shape*, void* d, const void* a, const void* b,
                     unsigned metadata, int selector, const tw_site*);
  void (*mma_scaled)(tw_thread*, const tw_mma_shape*, const tw_mma_scaling*, void* d, const void* a,
                     const void* b, unsigned scale_a, unsigned scale_b, const tw_site*);
};

struct tw_thread {
  const tw_engine* engine;
  unsigned thread;          // index in the block
  unsigned long long fuel;  // turns of loops and intrinsics left to the thread
  unsigned block_id[3];
  unsigned grid_dim[3];
};
