// Prelude, part 2 of 3: the machine. Every device intrinsic an emitted kernel uses, as inline PTX or
// a CUDA builtin; the host prelude defines the same names in plain C++. Kernel text itself has no
// asm and no builtins. "All threads" and "warp" say who has to call it together.

// ---- program and threads -----------------------------------------------------------------------
// Index of this thread in its program, 0 … threads-1.
TW_DEVICE u32 tw_thread_id() { return threadIdx.x; }
// Index of this program, and number of programs, along axis 0, 1, 2.
TW_DEVICE i32 tw_block_id(int axis) { return axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z; }
TW_DEVICE i32 tw_grid_dim(int axis) { return axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z; }
// All threads: shared and global writes before are visible to the program's threads after.
TW_DEVICE void tw_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
// Ends the program with an error.
TW_DEVICE void tw_trap() { asm volatile("trap;"); }
// Orders this thread's memory accesses before it with those after it, as seen in Scope.
template <int Scope>
TW_DEVICE void tw_fence() {
  if constexpr (Scope == TW_CTA) asm volatile("fence.acq_rel.cta;" ::: "memory");
  if constexpr (Scope == TW_GPU) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if constexpr (Scope == TW_SYS) asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// Warp: the value that lane `lane` passes (32 bits; other types: tw_shfl in common.cuh).
TW_DEVICE u32 tw_shfl_b32(u32 v, u32 lane) {
  u32 r;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(lane));
  return r;
}
// Warp: the value that lane (own lane ^ mask) passes.
TW_DEVICE u32 tw_shfl_xor_b32(u32 v, u32 mask) {
  u32 r;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(mask));
  return r;
}

// Warp: what all lanes pass, combined.
#if __CUDA_ARCH__ >= 800
#define TW_REDUX(name, type, ptx)                                                         \
  TW_DEVICE type name(type v) {                                                           \
    type r;                                                                               \
    asm volatile("redux.sync." ptx " %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));            \
    return r;                                                                             \
  }
TW_REDUX(tw_redux_add, i32, "add.s32")
TW_REDUX(tw_redux_add, u32, "add.u32")
TW_REDUX(tw_redux_min, i32, "min.s32")
TW_REDUX(tw_redux_min, u32, "min.u32")
TW_REDUX(tw_redux_max, i32, "max.s32")
TW_REDUX(tw_redux_max, u32, "max.u32")
TW_REDUX(tw_redux_and, i32, "and.b32")
TW_REDUX(tw_redux_and, u32, "and.b32")
TW_REDUX(tw_redux_or, i32, "or.b32")
TW_REDUX(tw_redux_or, u32, "or.b32")
TW_REDUX(tw_redux_xor, i32, "xor.b32")
TW_REDUX(tw_redux_xor, u32, "xor.b32")
#undef TW_REDUX
#endif

// ---- words ---------------------------------------------------------------------------------------
// Bytes b0 (lowest) … b3 as one word.
TW_DEVICE u32 tw_pack_b8(u8 b0, u8 b1, u8 b2, u8 b3) {
  return (u32)b0 | (u32)b1 << 8 | (u32)b2 << 16 | (u32)b3 << 24;
}
// v, which the compiler takes for unknown: it holds it in a register rather than compute it again where it is used.
TW_DEVICE u32 tw_keep(u32 v) {
  asm("" : "+r"(v));
  return v;
}
// The slot that fragments are loaded from ahead: the next iteration's. Where there is none (`more`), they are not used, and
// no copy is under way to any slot: whatever lies in the next one will do. The emulator takes the iteration's own, as it
// minds reads of what was never written.
TW_DEVICE i32 tw_next_slot(bool more, i32 next, i32 own) { return next; }
// base + elements * Bytes, which is not turned into a pointer that moves along.
template <int Bytes>
TW_DEVICE u64 tw_address(u64 base, i32 elements) {
  u64 address;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(address) : "r"(elements), "n"(Bytes), "l"(base));
  return address;
}
TW_DEVICE u32 tw_pack_b16(u16 low, u16 high) { return (u32)low | (u32)high << 16; }
// Four of the bytes 0-3 of a and 4-7 of b, as the hex digits of `which` say, lowest first.
TW_DEVICE u32 tw_select_bytes(u32 a, u32 b, u32 which) { return __byte_perm(a, b, which); }
// x >> by. NVRTC would move a shift into the halves that a word was put together from, and need four
// instructions.
TW_DEVICE u32 tw_shr_word(u32 x, u32 by) {
  u32 r;
  asm("shr.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(by));
  return r;
}
// (x & mask) ^ flip in one instruction, which ptxas does not make of two constants by itself.
TW_DEVICE u32 tw_and_xor(u32 x, u32 mask, u32 flip) {
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(x), "r"(mask), "r"(flip));
  return r;
}

// ---- shared memory -------------------------------------------------------------------------------
// Offsets are bytes from the start of the program's dynamic shared memory, aligned to the access.
extern __shared__ __align__(1024) u8 tw_shared[];
TW_DEVICE u32 tw_shared_address(u32 offset) { return (u32)__cvta_generic_to_shared(tw_shared) + offset; }

// Reads 1, 2, 4, 8 or 16 bytes as words w[0…].
TW_DEVICE void tw_shared_load_b8(u32& w, u32 offset) {
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(w) : "r"(tw_shared_address(offset)));
}
TW_DEVICE void tw_shared_load_b16(u32& w, u32 offset) {
  asm volatile("{ .reg .b16 t; ld.shared.u16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(w) : "r"(tw_shared_address(offset)));
}
TW_DEVICE void tw_shared_load_b32(u32& w, u32 offset) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(w) : "r"(tw_shared_address(offset)));
}
TW_DEVICE void tw_shared_load_b64(u32 (&w)[2], u32 offset) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(tw_shared_address(offset)));
}
TW_DEVICE void tw_shared_load_b128(u32 (&w)[4], u32 offset) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(tw_shared_address(offset)));
}
// Writes 1, 2, 4, 8 or 16 bytes.
TW_DEVICE void tw_shared_store_b8(u32 offset, u32 w) {
  asm volatile("st.shared.u8 [%0], %1;" :: "r"(tw_shared_address(offset)), "r"(w));
}
TW_DEVICE void tw_shared_store_b16(u32 offset, u32 w) {
  asm volatile("st.shared.u16 [%0], %1;" :: "r"(tw_shared_address(offset)), "h"((u16)w));
}
TW_DEVICE void tw_shared_store_b32(u32 offset, u32 w) {
  asm volatile("st.shared.b32 [%0], %1;" :: "r"(tw_shared_address(offset)), "r"(w));
}
TW_DEVICE void tw_shared_store_b64(u32 offset, const u32 (&w)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" :: "r"(tw_shared_address(offset)), "r"(w[0]), "r"(w[1]));
}
TW_DEVICE void tw_shared_store_b128(u32 offset, const u32 (&w)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               :: "r"(tw_shared_address(offset)), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]));
}
// Adds to a counter; threads may add to one at the same time.
TW_DEVICE void tw_shared_add(u32 offset, u32 v) {
  asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(tw_shared_address(offset)), "r"(v) : "memory");
}
// Warp: ldmatrix.m8n8 of N = 1, 2, 4 matrices of 8 rows of 16 bytes. Lane 8*j + i gives the offset
// of row i of matrix j (lanes of absent matrices are ignored), all moved by Offset. d[j]: lane l receives the 32 bits at
// byte 4*(l%4) of row l/4 of matrix j.
template <int N, int Offset = 0>
TW_DEVICE void tw_ldmatrix(u32* d, u32 offset) {
  u32 at = tw_shared_address(offset);
  if constexpr (N == 1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + %2];" : "=r"(d[0]) : "r"(at), "n"(Offset));
  if constexpr (N == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2 + %3];" : "=r"(d[0]), "=r"(d[1]) : "r"(at), "n"(Offset));
  if constexpr (N == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at), "n"(Offset));
}
// Warp: the same with each 8x8 matrix of 16-bit elements transposed: lane l receives elements
// (row 2*(l%4), column l/4) in the low and (row 2*(l%4)+1, column l/4) in the high half.
template <int N, int Offset = 0>
TW_DEVICE void tw_ldmatrix_trans(u32* d, u32 offset) {
  u32 at = tw_shared_address(offset);
  if constexpr (N == 1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1 + %2];" : "=r"(d[0]) : "r"(at), "n"(Offset));
  if constexpr (N == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + %3];" : "=r"(d[0]), "=r"(d[1]) : "r"(at), "n"(Offset));
  if constexpr (N == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at), "n"(Offset));
}

// ---- global memory -------------------------------------------------------------------------------
// Reads Bytes (1, 2, 4, 8, 16) as words w[0…], treated by the caches as Hint says. Addresses are
// aligned to the access. The _if forms do nothing where `mask` is false: w keeps its value.
#define TW_P "{ .reg .pred p; setp.ne.b32 p, "
#define TW_LOAD_HINTS(BODY)                                          \
  if constexpr (Hint == TW_PLAIN) { BODY(".global") }                \
  if constexpr (Hint == TW_CA) { BODY(".global.ca") }                \
  if constexpr (Hint == TW_CG) { BODY(".global.cg") }                \
  if constexpr (Hint == TW_CS) { BODY(".global.cs") }                \
  if constexpr (Hint == TW_CV) { BODY(".global.cv") }                \
  if constexpr (Hint == TW_EVICT_FIRST) { BODY(".global.L1::evict_first") } \
  if constexpr (Hint == TW_EVICT_LAST) { BODY(".global.L1::evict_last") }   \
  if constexpr (Hint == TW_VOLATILE) { BODY(".volatile.global") }

#define TW_LOAD_BODY(modifier)                                                                            \
  if constexpr (Bytes == 1) asm volatile("ld" modifier ".u8 %0, [%1];" : "=r"(w[0]) : "l"(address));      \
  if constexpr (Bytes == 2) {                                                                             \
    u16 half;                                                                                             \
    asm volatile("ld" modifier ".b16 %0, [%1];" : "=h"(half) : "l"(address));                             \
    w[0] = half;                                                                                          \
  }                                                                                                       \
  if constexpr (Bytes == 4) asm volatile("ld" modifier ".b32 %0, [%1];" : "=r"(w[0]) : "l"(address));     \
  if constexpr (Bytes == 8)                                                                               \
    asm volatile("ld" modifier ".v2.b32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(address));        \
  if constexpr (Bytes == 16)                                                                              \
    asm volatile("ld" modifier ".v4.b32 {%0, %1, %2, %3}, [%4];"                                          \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(address));
template <int Bytes, int Hint>
TW_DEVICE void tw_global_load(u32* w, u64 address) { TW_LOAD_HINTS(TW_LOAD_BODY) }

#define TW_LOAD_IF_BODY(modifier)                                                                         \
  if constexpr (Bytes == 1)                                                                               \
    asm volatile(TW_P "%2, 0; @p ld" modifier ".u8 %0, [%1]; }"                                           \
                 : "+r"(w[0]) : "l"(address), "r"((u32)mask));                                            \
  if constexpr (Bytes == 2) {                                                                             \
    u16 half = (u16)w[0];                                                                                 \
    asm volatile(TW_P "%2, 0; @p ld" modifier ".b16 %0, [%1]; }"                                          \
                 : "+h"(half) : "l"(address), "r"((u32)mask));                                            \
    w[0] = half;                                                                                          \
  }                                                                                                       \
  if constexpr (Bytes == 4)                                                                               \
    asm volatile(TW_P "%2, 0; @p ld" modifier ".b32 %0, [%1]; }"                                          \
                 : "+r"(w[0]) : "l"(address), "r"((u32)mask));                                            \
  if constexpr (Bytes == 8)                                                                               \
    asm volatile(TW_P "%3, 0; @p ld" modifier ".v2.b32 {%0, %1}, [%2]; }"                                 \
                 : "+r"(w[0]), "+r"(w[1]) : "l"(address), "r"((u32)mask));                                \
  if constexpr (Bytes == 16)                                                                              \
    asm volatile(TW_P "%5, 0; @p ld" modifier ".v4.b32 {%0, %1, %2, %3}, [%4]; }"                         \
                 : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3]) : "l"(address), "r"((u32)mask));
template <int Bytes, int Hint>
TW_DEVICE void tw_global_load_if(u32* w, u64 address, bool mask) { TW_LOAD_HINTS(TW_LOAD_IF_BODY) }

// Writes Bytes from words w[0…] where `mask`.
#define TW_STORE_IF_BODY(modifier)                                                                        \
  if constexpr (Bytes == 1)                                                                               \
    asm volatile(TW_P "%2, 0; @p st" modifier ".u8 [%0], %1; }"                                           \
                 :: "l"(address), "r"(w[0]), "r"((u32)mask) : "memory");                                  \
  if constexpr (Bytes == 2)                                                                               \
    asm volatile(TW_P "%2, 0; @p st" modifier ".b16 [%0], %1; }"                                          \
                 :: "l"(address), "h"((u16)w[0]), "r"((u32)mask) : "memory");                             \
  if constexpr (Bytes == 4)                                                                               \
    asm volatile(TW_P "%2, 0; @p st" modifier ".b32 [%0], %1; }"                                          \
                 :: "l"(address), "r"(w[0]), "r"((u32)mask) : "memory");                                  \
  if constexpr (Bytes == 8)                                                                               \
    asm volatile(TW_P "%3, 0; @p st" modifier ".v2.b32 [%0], {%1, %2}; }"                                 \
                 :: "l"(address), "r"(w[0]), "r"(w[1]), "r"((u32)mask) : "memory");                       \
  if constexpr (Bytes == 16)                                                                              \
    asm volatile(TW_P "%5, 0; @p st" modifier ".v4.b32 [%0], {%1, %2, %3, %4}; }"                         \
                 :: "l"(address), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"((u32)mask) : "memory");
template <int Bytes, int Hint>
TW_DEVICE void tw_global_store_if(u64 address, const u32* w, bool mask) {
  if constexpr (Hint == TW_PLAIN) { TW_STORE_IF_BODY(".global") }
  if constexpr (Hint == TW_WB) { TW_STORE_IF_BODY(".global.wb") }
  if constexpr (Hint == TW_CG) { TW_STORE_IF_BODY(".global.cg") }
  if constexpr (Hint == TW_CS) { TW_STORE_IF_BODY(".global.cs") }
  if constexpr (Hint == TW_WT) { TW_STORE_IF_BODY(".global.wt") }
  if constexpr (Hint == TW_EVICT_FIRST) { TW_STORE_IF_BODY(".global.L1::evict_first") }
  if constexpr (Hint == TW_EVICT_LAST) { TW_STORE_IF_BODY(".global.L1::evict_last") }
}
#undef TW_P
#undef TW_LOAD_HINTS
#undef TW_LOAD_BODY
#undef TW_LOAD_IF_BODY
#undef TW_STORE_IF_BODY

// ---- asynchronous copies ------------------------------------------------------------------------
// Global to shared memory, past the registers. The bytes may land at any time from the call on; they
// are this thread's to read after it has waited for their group, and everybody's after a barrier
// behind that. Bytes is 4, 8 or 16; both places are aligned to it, the first is offset + Offset. 16 bytes go past the L1 cache.
#if __CUDA_ARCH__ >= 800
#define TW_HAS_CP_ASYNC 1
template <int Bytes, int Offset = 0>
TW_DEVICE void tw_cp_async(u32 offset, u64 address) {
  u32 to = tw_shared_address(offset);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0 + %2], [%1], 16;" :: "r"(to), "l"(address), "n"(Offset) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0 + %3], [%1], %2;" :: "r"(to), "l"(address), "n"(Bytes), "n"(Offset) : "memory");
}
// The same where `mask`; elsewhere zeros land, and the address is not read.
template <int Bytes, int Offset = 0>
TW_DEVICE void tw_cp_async_if(u32 offset, u64 address, bool mask) {
  u32 to = tw_shared_address(offset), read = mask ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0 + %3], [%1], 16, %2;"
                 :: "r"(to), "l"(address), "r"(read), "n"(Offset) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0 + %4], [%1], %2, %3;"
                 :: "r"(to), "l"(address), "n"(Bytes), "r"(read), "n"(Offset) : "memory");
}
// This thread's copies since the last commit become a group, which may be empty.
TW_DEVICE void tw_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All but the newest N groups of this thread have landed.
template <int N>
TW_DEVICE void tw_cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
#endif

// ---- atomics -------------------------------------------------------------------------------------
// Relaxed read-modify-writes of global memory in Scope; they give the old value. Order is made by
// tw_fence before and after. (Types and operations the machine lacks: common.cuh, by compare-and-swap.)
#define TW_ATOMIC(name, type, constraint, ptx)                                                                          \
  template <int Scope>                                                                                                  \
  TW_DEVICE type name(u64 address, type v) {                                                                            \
    type r;                                                                                                             \
    if constexpr (Scope == TW_GPU)                                                                                      \
      asm volatile("atom.relaxed.gpu.global." ptx " %0, [%1], %2;" : "=" constraint(r) : "l"(address), constraint(v) : "memory"); \
    if constexpr (Scope == TW_CTA)                                                                                      \
      asm volatile("atom.relaxed.cta.global." ptx " %0, [%1], %2;" : "=" constraint(r) : "l"(address), constraint(v) : "memory"); \
    if constexpr (Scope == TW_SYS)                                                                                      \
      asm volatile("atom.relaxed.sys.global." ptx " %0, [%1], %2;" : "=" constraint(r) : "l"(address), constraint(v) : "memory"); \
    return r;                                                                                                           \
  }
TW_ATOMIC(tw_atom_add, u32, "r", "add.u32")
TW_ATOMIC(tw_atom_add, u64, "l", "add.u64")
TW_ATOMIC(tw_atom_add, f32, "f", "add.f32")
TW_ATOMIC(tw_atom_add, f64, "d", "add.f64")
TW_ATOMIC(tw_atom_add_f16, u16, "h", "add.noftz.f16")
#if __CUDA_ARCH__ >= 900
TW_ATOMIC(tw_atom_add_bf16, u16, "h", "add.noftz.bf16")
#define TW_HAS_ATOM_ADD_BF16 1
#endif
TW_ATOMIC(tw_atom_min, i32, "r", "min.s32")
TW_ATOMIC(tw_atom_min, u32, "r", "min.u32")
TW_ATOMIC(tw_atom_min, i64, "l", "min.s64")
TW_ATOMIC(tw_atom_min, u64, "l", "min.u64")
TW_ATOMIC(tw_atom_max, i32, "r", "max.s32")
TW_ATOMIC(tw_atom_max, u32, "r", "max.u32")
TW_ATOMIC(tw_atom_max, i64, "l", "max.s64")
TW_ATOMIC(tw_atom_max, u64, "l", "max.u64")
TW_ATOMIC(tw_atom_and, u32, "r", "and.b32")
TW_ATOMIC(tw_atom_and, u64, "l", "and.b64")
TW_ATOMIC(tw_atom_or, u32, "r", "or.b32")
TW_ATOMIC(tw_atom_or, u64, "l", "or.b64")
TW_ATOMIC(tw_atom_xor, u32, "r", "xor.b32")
TW_ATOMIC(tw_atom_xor, u64, "l", "xor.b64")
TW_ATOMIC(tw_atom_xchg, u32, "r", "exch.b32")
TW_ATOMIC(tw_atom_xchg, u64, "l", "exch.b64")
#undef TW_ATOMIC
// Additions of neighbours that give no old values: each element atomically, all in one access. From
// sm_90 on, N = 2 or 4 f32, or N = 1, 2, 4 words of two 16-bit floats; before, one word of two f16.
#define TW_RED_SCOPES(BODY)                                \
  if constexpr (Scope == TW_GPU) { BODY(".gpu") }          \
  if constexpr (Scope == TW_CTA) { BODY(".cta") }          \
  if constexpr (Scope == TW_SYS) { BODY(".sys") }
#define TW_RED_1(scope, ptx, constraint) \
  asm volatile("red.relaxed" scope ".global.add" ptx " [%0], %1;" :: "l"(address), constraint(v[0]) : "memory");
#define TW_RED_2(scope, ptx, constraint)                                                                                \
  asm volatile("red.relaxed" scope ".global.add" ptx " [%0], {%1, %2};"                                                 \
               :: "l"(address), constraint(v[0]), constraint(v[1]) : "memory");
#define TW_RED_4(scope, ptx, constraint)                                                                                \
  asm volatile("red.relaxed" scope ".global.add" ptx " [%0], {%1, %2, %3, %4};"                                         \
               :: "l"(address), constraint(v[0]), constraint(v[1]), constraint(v[2]), constraint(v[3]) : "memory");
#if __CUDA_ARCH__ >= 900
#define TW_HAS_RED_VECTORS 1
#define TW_RED_BODY(scope)                                         \
  if constexpr (N == 2) { TW_RED_2(scope, ".v2.f32", "f") }        \
  if constexpr (N == 4) { TW_RED_4(scope, ".v4.f32", "f") }
template <int Scope, int N>
TW_DEVICE void tw_red_add_f32(u64 address, const f32* v) { TW_RED_SCOPES(TW_RED_BODY) }
#undef TW_RED_BODY
#define TW_RED_BODY(scope)                                                \
  if constexpr (N == 1) { TW_RED_1(scope, ".noftz.bf16x2", "r") }         \
  if constexpr (N == 2) { TW_RED_2(scope, ".noftz.v2.bf16x2", "r") }      \
  if constexpr (N == 4) { TW_RED_4(scope, ".noftz.v4.bf16x2", "r") }
template <int Scope, int N>
TW_DEVICE void tw_red_add_bf16x2(u64 address, const u32* v) { TW_RED_SCOPES(TW_RED_BODY) }
#undef TW_RED_BODY
#define TW_RED_BODY(scope)                                                \
  if constexpr (N == 1) { TW_RED_1(scope, ".noftz.f16x2", "r") }          \
  if constexpr (N == 2) { TW_RED_2(scope, ".noftz.v2.f16x2", "r") }       \
  if constexpr (N == 4) { TW_RED_4(scope, ".noftz.v4.f16x2", "r") }
#else
#define TW_RED_BODY(scope)                                     \
  static_assert(N == 1, "this target adds one word at once");  \
  TW_RED_1(scope, ".noftz.f16x2", "r")
#endif
template <int Scope, int N>
TW_DEVICE void tw_red_add_f16x2(u64 address, const u32* v) { TW_RED_SCOPES(TW_RED_BODY) }
#undef TW_RED_BODY
#undef TW_RED_1
#undef TW_RED_2
#undef TW_RED_4
#undef TW_RED_SCOPES
// Compare-and-swap of 16, 32 and 64 bits.
#define TW_ATOMIC_CAS(type, constraint, ptx)                                                                            \
  template <int Scope>                                                                                                  \
  TW_DEVICE type tw_atom_cas(u64 address, type expected, type v) {                                                      \
    type r;                                                                                                             \
    if constexpr (Scope == TW_GPU)                                                                                      \
      asm volatile("atom.relaxed.gpu.global.cas." ptx " %0, [%1], %2, %3;"                                              \
                   : "=" constraint(r) : "l"(address), constraint(expected), constraint(v) : "memory");                 \
    if constexpr (Scope == TW_CTA)                                                                                      \
      asm volatile("atom.relaxed.cta.global.cas." ptx " %0, [%1], %2, %3;"                                              \
                   : "=" constraint(r) : "l"(address), constraint(expected), constraint(v) : "memory");                 \
    if constexpr (Scope == TW_SYS)                                                                                      \
      asm volatile("atom.relaxed.sys.global.cas." ptx " %0, [%1], %2, %3;"                                              \
                   : "=" constraint(r) : "l"(address), constraint(expected), constraint(v) : "memory");                 \
    return r;                                                                                                           \
  }
TW_ATOMIC_CAS(u16, "h", "b16")
TW_ATOMIC_CAS(u32, "r", "b32")
TW_ATOMIC_CAS(u64, "l", "b64")
#undef TW_ATOMIC_CAS

// ---- tensor cores --------------------------------------------------------------------------------
// Warp: d += a * b for one fragment each (PTX ISA, "Matrix Fragments for mma.m16n8k*"). a and b hold
// 32-bit registers of packed elements, low elements in low bits; d is in PTX order. Names give the
// types of a and b (once if equal), and of the sum if there is a choice and it is f16.
#define TW_MMA_4_2(name, type, constraint, ptx)                                                                         \
  TW_DEVICE void name(type* d, const u32* a, const u32* b) {                                                            \
    asm volatile("mma.sync.aligned." ptx " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                   \
  }
#define TW_MMA_2_1(name, type, constraint, ptx)                                                                         \
  TW_DEVICE void name(type* d, const u32* a, const u32* b) {                                                            \
    asm volatile("mma.sync.aligned." ptx " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                         \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])               \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                                                    \
  }
#define TW_MMA_1_1(name, ptx)                                                                                           \
  TW_DEVICE void name(i32* d, const u32* a, const u32* b) {                                                             \
    asm volatile("mma.sync.aligned." ptx " {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0])); \
  }
// Sums of f16, two in a word. They are moved word by word (not packed from halves), so that the
// compiler keeps the accumulator packed from one instruction to the next.
#define TW_MMA_F16_4_2(name, ptx)                                                                                       \
  TW_DEVICE void name(f16* d, const u32* a, const u32* b) {                                                             \
    u32 w[2];                                                                                                           \
    TW_EACH(i, 2) TW_COPY_BYTES(&w[i], d + 2 * i, 4);                                                                   \
    asm volatile("mma.sync.aligned." ptx " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                             \
                 : "+r"(w[0]), "+r"(w[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    TW_EACH(i, 2) TW_COPY_BYTES(d + 2 * i, &w[i], 4);                                                                   \
  }
#define TW_MMA_F16_2_1(name, ptx)                                                                                       \
  TW_DEVICE void name(f16* d, const u32* a, const u32* b) {                                                             \
    u32 w[2];                                                                                                           \
    TW_EACH(i, 2) TW_COPY_BYTES(&w[i], d + 2 * i, 4);                                                                   \
    asm volatile("mma.sync.aligned." ptx " {%0, %1}, {%2, %3}, {%4}, {%0, %1};"                                         \
                 : "+r"(w[0]), "+r"(w[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                           \
    TW_EACH(i, 2) TW_COPY_BYTES(d + 2 * i, &w[i], 4);                                                                   \
  }
TW_MMA_2_1(tw_mma_m16n8k8_f16, f32, "f", "m16n8k8.row.col.f32.f16.f16.f32")
TW_MMA_F16_2_1(tw_mma_m16n8k8_f16_to_f16, "m16n8k8.row.col.f16.f16.f16.f16")
// Bytes on sm_75: a[1], b[1], d[2].
TW_MMA_1_1(tw_mma_m8n8k16_i8, "m8n8k16.row.col.s32.s8.s8.s32")
TW_MMA_1_1(tw_mma_m8n8k16_u8, "m8n8k16.row.col.s32.u8.u8.s32")
TW_MMA_1_1(tw_mma_m8n8k16_i8_u8, "m8n8k16.row.col.s32.s8.u8.s32")
TW_MMA_1_1(tw_mma_m8n8k16_u8_i8, "m8n8k16.row.col.s32.u8.s8.s32")
#if __CUDA_ARCH__ >= 800
TW_MMA_4_2(tw_mma_m16n8k16_f16, f32, "f", "m16n8k16.row.col.f32.f16.f16.f32")
TW_MMA_F16_4_2(tw_mma_m16n8k16_f16_to_f16, "m16n8k16.row.col.f16.f16.f16.f16")
TW_MMA_4_2(tw_mma_m16n8k16_bf16, f32, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
TW_MMA_2_1(tw_mma_m16n8k8_bf16, f32, "f", "m16n8k8.row.col.f32.bf16.bf16.f32")
// TF32 operands are f32 images, rounded by tw_tf32_operand.
TW_MMA_4_2(tw_mma_m16n8k8_tf32, f32, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
TW_MMA_2_1(tw_mma_m16n8k4_tf32, f32, "f", "m16n8k4.row.col.f32.tf32.tf32.f32")
TW_MMA_4_2(tw_mma_m16n8k32_i8, i32, "r", "m16n8k32.row.col.s32.s8.s8.s32")
TW_MMA_4_2(tw_mma_m16n8k32_u8, i32, "r", "m16n8k32.row.col.s32.u8.u8.s32")
TW_MMA_4_2(tw_mma_m16n8k32_i8_u8, i32, "r", "m16n8k32.row.col.s32.s8.u8.s32")
TW_MMA_4_2(tw_mma_m16n8k32_u8_i8, i32, "r", "m16n8k32.row.col.s32.u8.s8.s32")
TW_MMA_2_1(tw_mma_m16n8k16_i8, i32, "r", "m16n8k16.row.col.s32.s8.s8.s32")
TW_MMA_2_1(tw_mma_m16n8k16_u8, i32, "r", "m16n8k16.row.col.s32.u8.u8.s32")
TW_MMA_2_1(tw_mma_m16n8k16_i8_u8, i32, "r", "m16n8k16.row.col.s32.s8.u8.s32")
TW_MMA_2_1(tw_mma_m16n8k16_u8_i8, i32, "r", "m16n8k16.row.col.s32.u8.s8.s32")
// f64: a and b hold one element a register. m8n8k4: a[1], b[1], d[2].
TW_DEVICE void tw_mma_m8n8k4_f64(f64* d, const f64* a, const f64* b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1]) : "d"(a[0]), "d"(b[0]));
}
#endif
#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900
// Nibbles, 8 in a word; a and b as for bytes of half the k. Later machines have no such unit.
TW_MMA_4_2(tw_mma_m16n8k64_i4, i32, "r", "m16n8k64.row.col.s32.s4.s4.s32")
TW_MMA_4_2(tw_mma_m16n8k64_u4, i32, "r", "m16n8k64.row.col.s32.u4.u4.s32")
TW_MMA_4_2(tw_mma_m16n8k64_i4_u4, i32, "r", "m16n8k64.row.col.s32.s4.u4.s32")
TW_MMA_4_2(tw_mma_m16n8k64_u4_i4, i32, "r", "m16n8k64.row.col.s32.u4.s4.s32")
TW_MMA_2_1(tw_mma_m16n8k32_i4, i32, "r", "m16n8k32.row.col.s32.s4.s4.s32")
TW_MMA_2_1(tw_mma_m16n8k32_u4, i32, "r", "m16n8k32.row.col.s32.u4.u4.s32")
TW_MMA_2_1(tw_mma_m16n8k32_i4_u4, i32, "r", "m16n8k32.row.col.s32.s4.u4.s32")
TW_MMA_2_1(tw_mma_m16n8k32_u4_i4, i32, "r", "m16n8k32.row.col.s32.u4.s4.s32")
#endif
#if __CUDA_ARCH__ >= 890
TW_MMA_4_2(tw_mma_m16n8k32_f8e4m3, f32, "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32")
TW_MMA_4_2(tw_mma_m16n8k32_f8e5m2, f32, "f", "m16n8k32.row.col.f32.e5m2.e5m2.f32")
TW_MMA_4_2(tw_mma_m16n8k32_f8e4m3_f8e5m2, f32, "f", "m16n8k32.row.col.f32.e4m3.e5m2.f32")
TW_MMA_4_2(tw_mma_m16n8k32_f8e5m2_f8e4m3, f32, "f", "m16n8k32.row.col.f32.e5m2.e4m3.f32")
TW_MMA_F16_4_2(tw_mma_m16n8k32_f8e4m3_to_f16, "m16n8k32.row.col.f16.e4m3.e4m3.f16")
TW_MMA_F16_4_2(tw_mma_m16n8k32_f8e5m2_to_f16, "m16n8k32.row.col.f16.e5m2.e5m2.f16")
TW_MMA_F16_4_2(tw_mma_m16n8k32_f8e4m3_f8e5m2_to_f16, "m16n8k32.row.col.f16.e4m3.e5m2.f16")
TW_MMA_F16_4_2(tw_mma_m16n8k32_f8e5m2_f8e4m3_to_f16, "m16n8k32.row.col.f16.e5m2.e4m3.f16")
#endif
#if __CUDA_ARCH__ >= 900
// m16n8k8 of f64: a[4], b[2], d[4]; m16n8k16: a[8], b[4].
TW_DEVICE void tw_mma_m16n8k8_f64(f64* d, const f64* a, const f64* b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
TW_DEVICE void tw_mma_m16n8k16_f64(f64* d, const f64* a, const f64* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
               "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                 "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
#endif
// The same where two of four neighbours in each row of A are zero (TF32: one of two) and only the
// others are held. `metadata` has four bits a chunk: the two places, the lower first (TF32: 0b0100 or
// 0b1110). It is read of the threads that Selector names among four (PTX ISA, "Sparse matrix storage").
#define TW_MMA_SP_4_4(name, type, constraint, ptx)                                                                      \
  template <int Selector>                                                                                               \
  TW_DEVICE void name(type* d, const u32* a, const u32* b, u32 metadata) {                                              \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." ptx                                                           \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"                 \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),              \
                   "r"(metadata), "n"(Selector));                                                                       \
  }
#define TW_MMA_SP_2_2(name, type, constraint, ptx)                                                                      \
  template <int Selector>                                                                                               \
  TW_DEVICE void name(type* d, const u32* a, const u32* b, u32 metadata) {                                              \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." ptx                                                           \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"                                     \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])               \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(metadata), "n"(Selector));                           \
  }
#if __CUDA_ARCH__ >= 800
TW_MMA_SP_2_2(tw_mma_sp_m16n8k16_f16, f32, "f", "m16n8k16.row.col.f32.f16.f16.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k32_f16, f32, "f", "m16n8k32.row.col.f32.f16.f16.f32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k16_bf16, f32, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k32_bf16, f32, "f", "m16n8k32.row.col.f32.bf16.bf16.f32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k8_tf32, f32, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k16_tf32, f32, "f", "m16n8k16.row.col.f32.tf32.tf32.f32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k32_i8, i32, "r", "m16n8k32.row.col.s32.s8.s8.s32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_i8, i32, "r", "m16n8k64.row.col.s32.s8.s8.s32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k32_i8_u8, i32, "r", "m16n8k32.row.col.s32.s8.u8.s32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_i8_u8, i32, "r", "m16n8k64.row.col.s32.s8.u8.s32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k32_u8_i8, i32, "r", "m16n8k32.row.col.s32.u8.s8.s32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_u8_i8, i32, "r", "m16n8k64.row.col.s32.u8.s8.s32")
TW_MMA_SP_2_2(tw_mma_sp_m16n8k32_u8, i32, "r", "m16n8k32.row.col.s32.u8.u8.s32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_u8, i32, "r", "m16n8k64.row.col.s32.u8.u8.s32")
#endif
#if __CUDA_ARCH__ >= 890
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_f8e4m3, f32, "f", "m16n8k64.row.col.f32.e4m3.e4m3.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_f8e4m3_f8e5m2, f32, "f", "m16n8k64.row.col.f32.e4m3.e5m2.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_f8e5m2_f8e4m3, f32, "f", "m16n8k64.row.col.f32.e5m2.e4m3.f32")
TW_MMA_SP_4_4(tw_mma_sp_m16n8k64_f8e5m2, f32, "f", "m16n8k64.row.col.f32.e5m2.e5m2.f32")
#endif
// Runs of k have scales: of 32 for FP8 (mxf8) and two e2m1 numbers a byte (mxf4) as powers of two, of 16 as
// e4m3 without the sign (nvf4). A lane's word has four; ByteA, ThreadA, ByteB, ThreadB name the first one that
// counts, and the lanes of four (pairs of four for A) that have them.
#define TW_MMA_SCALED(name, ptx)                                                                                        \
  template <int ByteA, int ThreadA, int ByteB, int ThreadB>                                                             \
  TW_DEVICE void name(f32* d, const u32* a, const u32* b, u32 scale_a, u32 scale_b) {                                   \
    asm volatile("mma.sync.aligned." ptx                                                                                \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "                                    \
                 "%10, {%12, %13}, %11, {%14, %15};"                                                                    \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scale_a), "r"(scale_b),        \
                   "n"(ByteA), "n"(ThreadA), "n"(ByteB), "n"(ThreadB));                                                 \
  }
#if __CUDA_ARCH__ >= 1200
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e4m3, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0")
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e5m2, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0")
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e4m3_f8e5m2, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0")
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e5m2_f8e4m3, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32.ue8m0")
TW_MMA_SCALED(tw_mma_mxf4_m16n8k64, "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
TW_MMA_SCALED(tw_mma_nvf4_m16n8k64, "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")
#endif
#undef TW_MMA_SCALED
#undef TW_MMA_SP_4_4
#undef TW_MMA_SP_2_2
#undef TW_MMA_4_2
#undef TW_MMA_2_1
#undef TW_MMA_1_1
#undef TW_MMA_F16_4_2
#undef TW_MMA_F16_2_1
// A float rounded to TF32 (nearest, ties away from zero), as an f32 image. (Software on sm_75, where
// no unit takes it.)
TW_DEVICE u32 tw_tf32(f32 x) {
#if __CUDA_ARCH__ >= 800
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
#else
  u32 bits = tw_bitcast<u32>(x);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
#endif
}
// The same for an operand of a tensor core. From sm_90 on one instruction rounds, with ties to even;
// before, cvt.rna is two (a third clears the low bits, but ptxas knows that the tensor core ignores
// them). The low 13 bits may be anything.
TW_DEVICE u32 tw_tf32_operand(f32 x) {
#if __CUDA_ARCH__ >= 900
  u32 r;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
#else
  return tw_tf32(x);
#endif
}

// ---- conversions ---------------------------------------------------------------------------------
// Exact widening to f32.
TW_DEVICE f32 tw_f32(f32 x) { return x; }
TW_DEVICE f32 tw_f32(f16 x) {
  f32 r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}
TW_DEVICE f32 tw_f32(bf16 x) { return tw_bitcast<f32>((u32)x.bits << 16); }
// f32 to f16: nearest even (overflow to infinity), toward zero (finite stays finite).
TW_DEVICE f16 tw_f16(f32 x) {
  f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
TW_DEVICE f16 tw_f16_rtz(f32 x) {
  f16 r;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
// f32 to bf16, nearest even. (Toward zero: common.cuh.)
TW_DEVICE bf16 tw_bf16(f32 x) {
  bf16 r;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
#else
  u32 bits = tw_bitcast<u32>(x);
  r.bits = x != x ? (u16)0x7fff : (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
#endif
  return r;
}
// Two f32 to a packed pair, nearest even: low half from `low`.
TW_DEVICE u32 tw_pack_f16(f32 low, f32 high) {
#if __CUDA_ARCH__ >= 800
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
#else
  return tw_pack_b16(tw_f16(low).bits, tw_f16(high).bits);
#endif
}
TW_DEVICE u32 tw_pack_bf16(f32 low, f32 high) {
#if __CUDA_ARCH__ >= 800
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
#else
  return tw_pack_b16(tw_bf16(low).bits, tw_bf16(high).bits);
#endif
}
// FP8 where the machine converts it: nearest even, saturating; NaN stays NaN. common.cuh has the
// software form, used where TW_HAS_FP8_CVT is not defined.
#if __CUDA_ARCH__ >= 890
#define TW_HAS_FP8_CVT 1
TW_DEVICE u8 tw_cvt_f8e4m3(f32 x) {
  u16 r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
  return (u8)r;
}
TW_DEVICE u8 tw_cvt_f8e5m2(f32 x) {
  u16 r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
  return (u8)r;
}
#endif
// Two e4m3 numbers as f16.
#if __CUDA_ARCH__ >= 890
TW_DEVICE u32 tw_cvt_f16x2_f8e4m3(u16 x) {
  u32 r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(x));
  return r;
}
#endif
// f64 to f32 toward zero.
TW_DEVICE f32 tw_f32_rtz(f64 x) {
  f32 r;
  asm("cvt.rz.f32.f64 %0, %1;" : "=f"(r) : "d"(x));
  return r;
}
// Float to integer toward zero, saturating. NaN gives an unspecified value (common.cuh guards it).
TW_DEVICE i32 tw_cvt_i32(f32 x) { i32 r; asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
TW_DEVICE u32 tw_cvt_u32(f32 x) { u32 r; asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
TW_DEVICE i64 tw_cvt_i64(f32 x) { i64 r; asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(r) : "f"(x)); return r; }
TW_DEVICE u64 tw_cvt_u64(f32 x) { u64 r; asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(r) : "f"(x)); return r; }
TW_DEVICE i32 tw_cvt_i32(f64 x) { i32 r; asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(r) : "d"(x)); return r; }
TW_DEVICE u32 tw_cvt_u32(f64 x) { u32 r; asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(r) : "d"(x)); return r; }
TW_DEVICE i64 tw_cvt_i64(f64 x) { i64 r; asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(r) : "d"(x)); return r; }
TW_DEVICE u64 tw_cvt_u64(f64 x) { u64 r; asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(r) : "d"(x)); return r; }

// ---- arithmetic ----------------------------------------------------------------------------------
// Upper half of the product.
TW_DEVICE i32 tw_mulhi(i32 a, i32 b) { return __mulhi(a, b); }
TW_DEVICE u32 tw_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
TW_DEVICE i64 tw_mulhi(i64 a, i64 b) { return __mul64hi(a, b); }
TW_DEVICE u64 tw_mulhi(u64 a, u64 b) { return __umul64hi(a, b); }
// The whole product: one multiplication where both halves are wanted.
TW_DEVICE u64 tw_mul_wide(u32 a, u32 b) { u64 r; asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r; }
// Pairs of 16-bit floats, the halves of a word: each as the f32 result rounded once.
#define TW_PAIR(name, ptx)                                         \
  TW_DEVICE u32 name(u32 a, u32 b) {                               \
    u32 r;                                                         \
    asm(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));            \
    return r;                                                      \
  }
// Where the machine has no such instruction: half by half, in f32.
#define TW_PAIR_BY_HALVES(name, type, expression)                                            \
  TW_DEVICE u32 name(u32 a, u32 b) {                                                         \
    u32 r = 0;                                                                               \
    for (int i = 0; i < 32; i += 16) {                                                       \
      f32 x = tw_f32(type{(u16)(a >> i)}), y = tw_f32(type{(u16)(b >> i)});                  \
      r |= (u32)tw_##type(expression).bits << i;                                             \
    }                                                                                        \
    return r;                                                                                \
  }
TW_PAIR(tw_add_f16x2, "add.rn.f16x2")
TW_PAIR(tw_sub_f16x2, "sub.rn.f16x2")
TW_PAIR(tw_mul_f16x2, "mul.rn.f16x2")
#if __CUDA_ARCH__ >= 900
TW_PAIR(tw_add_bf16x2, "add.rn.bf16x2")
TW_PAIR(tw_sub_bf16x2, "sub.rn.bf16x2")
TW_PAIR(tw_mul_bf16x2, "mul.rn.bf16x2")
#elif __CUDA_ARCH__ >= 800
// a * 1 + b, b * -1 + a, a * b + -0: the products are exact, so each rounds once.
#define TW_PAIR_FMA(name, a, b, c)                                                     \
  TW_DEVICE u32 name(u32 x, u32 y) {                                                   \
    u32 r;                                                                             \
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));           \
    return r;                                                                          \
  }
TW_PAIR_FMA(tw_add_bf16x2, x, 0x3f803f80u, y)
TW_PAIR_FMA(tw_sub_bf16x2, y, 0xbf80bf80u, x)
TW_PAIR_FMA(tw_mul_bf16x2, x, y, 0x80008000u)
#undef TW_PAIR_FMA
#else
TW_PAIR_BY_HALVES(tw_add_bf16x2, bf16, x + y)
TW_PAIR_BY_HALVES(tw_sub_bf16x2, bf16, x - y)
TW_PAIR_BY_HALVES(tw_mul_bf16x2, bf16, x * y)
#endif
// Minimum and maximum of pairs: as tw_min, tw_max and tw_min_nan, tw_max_nan.
#if __CUDA_ARCH__ >= 800
TW_PAIR(tw_min_f16x2, "min.f16x2")
TW_PAIR(tw_max_f16x2, "max.f16x2")
TW_PAIR(tw_min_nan_f16x2, "min.NaN.f16x2")
TW_PAIR(tw_max_nan_f16x2, "max.NaN.f16x2")
TW_PAIR(tw_min_bf16x2, "min.bf16x2")
TW_PAIR(tw_max_bf16x2, "max.bf16x2")
TW_PAIR(tw_min_nan_bf16x2, "min.NaN.bf16x2")
TW_PAIR(tw_max_nan_bf16x2, "max.NaN.bf16x2")
#endif
// Rounded once, from the exact product.
TW_DEVICE u32 tw_fma_f16x2(u32 a, u32 b, u32 c) {
  u32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
#undef TW_PAIR
#undef TW_PAIR_BY_HALVES
// a * b + c, rounded once.
TW_DEVICE f32 tw_fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
TW_DEVICE f64 tw_fma(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
// Minimum and maximum: -0 < +0, a NaN loses (both NaN: NaN).
TW_DEVICE f32 tw_min(f32 a, f32 b) { f32 r; asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
TW_DEVICE f32 tw_max(f32 a, f32 b) { f32 r; asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
TW_DEVICE f64 tw_min(f64 a, f64 b) { f64 r; asm("min.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
TW_DEVICE f64 tw_max(f64 a, f64 b) { f64 r; asm("max.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
// Quotients: within 2 ulp (f32); correctly rounded.
TW_DEVICE f32 tw_div(f32 a, f32 b) { f32 r; asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
TW_DEVICE f64 tw_div(f64 a, f64 b) { return a / b; }
TW_DEVICE f32 tw_div_rn(f32 a, f32 b) { return __fdiv_rn(a, b); }
TW_DEVICE f64 tw_div_rn(f64 a, f64 b) { return a / b; }
// C's fmod.
TW_DEVICE f32 tw_rem(f32 a, f32 b) { return fmodf(a, b); }
TW_DEVICE f64 tw_rem(f64 a, f64 b) { return fmod(a, b); }
// 2^x and 1/sqrt(x) by the special-function unit (2^-22 relative).
// Without .ftz each call would scale its argument in case the result is subnormal: three more instructions.
TW_DEVICE f32 tw_exp2(f32 x) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
TW_DEVICE f32 tw_rsqrt(f32 x) { f32 r; asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// Functions of one argument (bounds: dsl/LANGUAGE.md).
TW_DEVICE f32 tw_log(f32 x) { return logf(x); }
TW_DEVICE f32 tw_log2(f32 x) { return log2f(x); }
TW_DEVICE f32 tw_tanh(f32 x) { return tanhf(x); }
TW_DEVICE f32 tw_erf(f32 x) { return erff(x); }
TW_DEVICE f32 tw_sqrt(f32 x) { return __fsqrt_rn(x); }
TW_DEVICE f32 tw_sqrt_rn(f32 x) { return __fsqrt_rn(x); }
TW_DEVICE f32 tw_floor(f32 x) { return floorf(x); }
TW_DEVICE f32 tw_ceil(f32 x) { return ceilf(x); }
TW_DEVICE f32 tw_abs(f32 x) { return fabsf(x); }
TW_DEVICE f64 tw_exp(f64 x) { return exp(x); }
TW_DEVICE f64 tw_exp2(f64 x) { return exp2(x); }
TW_DEVICE f64 tw_log(f64 x) { return log(x); }
TW_DEVICE f64 tw_log2(f64 x) { return log2(x); }
TW_DEVICE f64 tw_sin(f64 x) { return sin(x); }
TW_DEVICE f64 tw_cos(f64 x) { return cos(x); }
TW_DEVICE f64 tw_tanh(f64 x) { return tanh(x); }
TW_DEVICE f64 tw_erf(f64 x) { return erf(x); }
TW_DEVICE f64 tw_sqrt(f64 x) { return __dsqrt_rn(x); }
TW_DEVICE f64 tw_sqrt_rn(f64 x) { return __dsqrt_rn(x); }
TW_DEVICE f64 tw_rsqrt(f64 x) { return rsqrt(x); }
TW_DEVICE f64 tw_floor(f64 x) { return floor(x); }
TW_DEVICE f64 tw_ceil(f64 x) { return ceil(x); }
TW_DEVICE f64 tw_abs(f64 x) { return fabs(x); }
