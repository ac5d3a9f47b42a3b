// Prelude, part 1 of 3: the types of emitted kernels. The device prelude is types.cuh + device.cuh +
// common.cuh; the host prelude is types.cuh + the same intrinsics in plain C++ + common.cuh.
// Header-free: NVRTC gets no include path.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
// Narrow floats are their bit images; i1 is bool in registers and a u8 in memory; pointers are u64.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e4m3 { u8 bits; };
struct f8e5m2 { u8 bits; };

#if defined(__CUDACC__)
#define TW_COPY_BYTES memcpy  // NVRTC has no __builtin_memcpy
#define TW_DEVICE __device__ __forceinline__
#define TW_AT
#define TW_HERE
#define TW_INLINE __attribute__((always_inline))
#define TW_UNROLL _Pragma("unroll")
#define TW_NO_UNROLL _Pragma("unroll 1")
#define TW_PRAGMA(x) _Pragma(#x)
#define TW_UNROLL_BY(n) TW_PRAGMA(unroll n)
// The entry point: TW_KERNEL(threads) void name(parameters) { … }
// One block an SM is enough: without the 1, ptxas spills to fit more of them.
#define TW_KERNEL(threads) extern "C" __global__ __launch_bounds__(threads, 1)
// The same with registers for several blocks an SM; compile() lowers their number where it spills.
#ifdef TW_MIN_BLOCKS
#define TW_KERNEL_BLOCKS(threads, blocks) extern "C" __global__ __launch_bounds__(threads, TW_MIN_BLOCKS)
#else
#define TW_KERNEL_BLOCKS(threads, blocks) extern "C" __global__ __launch_bounds__(threads, blocks)
#endif
// The same with a bound on a thread's registers, which excludes __launch_bounds__. (ptxas rounds
// its option maxrregcount to what some number of blocks leaves.)
#define TW_KERNEL_REGISTERS(threads, registers) extern "C" __global__ __maxnreg__(registers)
#else
#define TW_COPY_BYTES __builtin_memcpy
#define TW_DEVICE static inline
// Under the emulator the last parameter of what touches memory or other threads is the place it was
// called from, for messages (tw_at: host_abi.h); functions hand it on with TW_HERE.
#define TW_AT , tw_at at = {}
#define TW_HERE , at
#define TW_INLINE
#define TW_UNROLL
#define TW_NO_UNROLL
#define TW_UNROLL_BY(n)
#define TW_KERNEL(threads) static
#define TW_KERNEL_BLOCKS(threads, blocks) static
#define TW_KERNEL_REGISTERS(threads, registers) static
#endif

// A loop over the registers of a tile, unrolled: every index is a constant.
#define TW_EACH(i, n) TW_UNROLL for (int i = 0; i < (n); ++i)

// How a load or store treats the caches (template argument `Hint`).
enum : int { TW_PLAIN, TW_CA, TW_CG, TW_CS, TW_CV, TW_WB, TW_WT, TW_EVICT_FIRST, TW_EVICT_LAST, TW_VOLATILE };
// Who an atomic or fence is ordered with (template argument `Scope`).
enum : int { TW_GPU, TW_CTA, TW_SYS };

// The same bits as another type of the same size.
template <class To, class From>
TW_DEVICE To tw_bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From), "bitcast between sizes");
  To r;
  TW_COPY_BYTES(&r, &x, sizeof(To));
  return r;
}

// The unsigned integer of a size.
template <int Bytes> struct tw_word;
template <> struct tw_word<1> { typedef u8 type; };
template <> struct tw_word<2> { typedef u16 type; };
template <> struct tw_word<4> { typedef u32 type; };
template <> struct tw_word<8> { typedef u64 type; };
template <class T> using tw_bits_of = typename tw_word<sizeof(T)>::type;

template <class A, class B> struct tw_is { static constexpr bool value = false; };
template <class A> struct tw_is<A, A> { static constexpr bool value = true; };
