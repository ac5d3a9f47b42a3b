// The machine's intrinsics (device.cuh, same names and meaning) in plain C++, for kernels that run
// under the emulator. Conversions and arithmetic are computed here; whatever touches memory or
// other threads is asked of the emulator (host_abi.h), which checks it. Header-free: builds are
// quick.
//
// Every intrinsic that can fail ends with `tw_at at = {}`, which names its caller in messages.

#define TW_HOST 1
#define TW_SITE(name) tw_site site = {name, at}

static inline tw_thread* tw_self() {
  return (tw_thread*)((u64)__builtin_frame_address(0) & ~(kTwStackBytes - 1));
}

// ---- program and threads -----------------------------------------------------------------------
TW_DEVICE u32 tw_thread_id() {
  return tw_self()->thread;
}
TW_DEVICE i32 tw_block_id(int axis) {
  return (i32)tw_self()->block_id[axis];
}
TW_DEVICE i32 tw_grid_dim(int axis) {
  return (i32)tw_self()->grid_dim[axis];
}
TW_DEVICE void tw_barrier(tw_at at = {}) {
  TW_SITE("tw_barrier");
  tw_self()->engine->barrier(tw_self(), &site);
}
TW_DEVICE void tw_trap(tw_at at = {}) {
  TW_SITE("tw_trap");
  tw_self()->engine->trap(tw_self(), &site);
}
// A turn of a loop (loop_steps.h puts it there).
TW_DEVICE bool tw_step(tw_at at = {}) {
  if (--tw_self()->fuel == 0) {
    TW_SITE("a loop");
    tw_self()->engine->out_of_fuel(tw_self(), &site);
  }
  return true;
}
template <int Scope>
TW_DEVICE void tw_fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
TW_DEVICE u32 tw_shfl_b32(u32 v, u32 lane, tw_at at = {}) {
  TW_SITE("tw_shfl_b32");
  return tw_self()->engine->shuffle(tw_self(), v, lane, false, &site);
}
TW_DEVICE u32 tw_shfl_xor_b32(u32 v, u32 mask, tw_at at = {}) {
  TW_SITE("tw_shfl_xor_b32");
  return tw_self()->engine->shuffle(tw_self(), v, mask, true, &site);
}

#if __CUDA_ARCH__ >= 800
#define TW_REDUX(name, type, combined)                  \
  TW_DEVICE type name(type v, tw_at at = {}) {          \
    for (u32 mask = 1; mask < 32; mask *= 2) {          \
      type w = (type)tw_shfl_xor_b32((u32)v, mask, at); \
      v = combined;                                     \
    }                                                   \
    return v;                                           \
  }
TW_REDUX(tw_redux_add, i32, (i32)((u32)v + (u32)w))
TW_REDUX(tw_redux_add, u32, v + w)
TW_REDUX(tw_redux_min, i32, w < v ? w : v)
TW_REDUX(tw_redux_min, u32, w < v ? w : v)
TW_REDUX(tw_redux_max, i32, w > v ? w : v)
TW_REDUX(tw_redux_max, u32, w > v ? w : v)
TW_REDUX(tw_redux_and, i32, (v & w))
TW_REDUX(tw_redux_and, u32, (v & w))
TW_REDUX(tw_redux_or, i32, v | w)
TW_REDUX(tw_redux_or, u32, v | w)
TW_REDUX(tw_redux_xor, i32, v ^ w)
TW_REDUX(tw_redux_xor, u32, v ^ w)
#undef TW_REDUX
#endif

// ---- words
// ---------------------------------------------------------------------------------------
TW_DEVICE u32 tw_pack_b8(u8 b0, u8 b1, u8 b2, u8 b3) {
  return (u32)b0 | (u32)b1 << 8 | (u32)b2 << 16 | (u32)b3 << 24;
}
TW_DEVICE u32 tw_keep(u32 v) {
  return v;
}
TW_DEVICE i32 tw_next_slot(bool more, i32 next, i32 own) {
  return more ? next : own;
}
template <int Bytes>
TW_DEVICE u64 tw_address(u64 base, i32 elements) {
  return base + (u64)((i64)elements * Bytes);
}
TW_DEVICE u32 tw_pack_b16(u16 low, u16 high) {
  return (u32)low | (u32)high << 16;
}
TW_DEVICE u32 tw_shr_word(u32 x, u32 by) {
  return x >> by;
}
TW_DEVICE u32 tw_and_xor(u32 x, u32 mask, u32 flip) {
  return (x & mask) ^ flip;
}
TW_DEVICE u32 tw_select_bytes(u32 a, u32 b, u32 which) {
  u64 bytes = (u64)b << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= (u32)(bytes >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

// ---- shared memory
// -------------------------------------------------------------------------------
TW_DEVICE void tw_shared_load_bytes(void* to, u32 offset, u32 bytes, const tw_site& site) {
  tw_self()->engine->shared_read(tw_self(), to, offset, bytes, &site);
}
TW_DEVICE void tw_shared_store_bytes(u32 offset, const void* from, u32 bytes, const tw_site& site) {
  tw_self()->engine->shared_write(tw_self(), offset, from, bytes, &site);
}
TW_DEVICE void tw_shared_load_b8(u32& w, u32 offset, tw_at at = {}) {
  w = 0;
  tw_shared_load_bytes(&w, offset, 1, {"tw_shared_load_b8", at});
}
TW_DEVICE void tw_shared_load_b16(u32& w, u32 offset, tw_at at = {}) {
  w = 0;
  tw_shared_load_bytes(&w, offset, 2, {"tw_shared_load_b16", at});
}
TW_DEVICE void tw_shared_load_b32(u32& w, u32 offset, tw_at at = {}) {
  tw_shared_load_bytes(&w, offset, 4, {"tw_shared_load_b32", at});
}
TW_DEVICE void tw_shared_load_b64(u32 (&w)[2], u32 offset, tw_at at = {}) {
  tw_shared_load_bytes(w, offset, 8, {"tw_shared_load_b64", at});
}
TW_DEVICE void tw_shared_load_b128(u32 (&w)[4], u32 offset, tw_at at = {}) {
  tw_shared_load_bytes(w, offset, 16, {"tw_shared_load_b128", at});
}
TW_DEVICE void tw_shared_store_b8(u32 offset, u32 w, tw_at at = {}) {
  tw_shared_store_bytes(offset, &w, 1, {"tw_shared_store_b8", at});
}
TW_DEVICE void tw_shared_store_b16(u32 offset, u32 w, tw_at at = {}) {
  tw_shared_store_bytes(offset, &w, 2, {"tw_shared_store_b16", at});
}
TW_DEVICE void tw_shared_store_b32(u32 offset, u32 w, tw_at at = {}) {
  tw_shared_store_bytes(offset, &w, 4, {"tw_shared_store_b32", at});
}
TW_DEVICE void tw_shared_store_b64(u32 offset, const u32 (&w)[2], tw_at at = {}) {
  tw_shared_store_bytes(offset, w, 8, {"tw_shared_store_b64", at});
}
TW_DEVICE void tw_shared_store_b128(u32 offset, const u32 (&w)[4], tw_at at = {}) {
  tw_shared_store_bytes(offset, w, 16, {"tw_shared_store_b128", at});
}
TW_DEVICE void tw_shared_add(u32 offset, u32 v, tw_at at = {}) {
  TW_SITE("tw_shared_add");
  tw_self()->engine->shared_add(tw_self(), offset, v, &site);
}
template <int N, int Offset = 0>
TW_DEVICE void tw_ldmatrix(u32* d, u32 offset, tw_at at = {}) {
  TW_SITE("tw_ldmatrix");
  tw_self()->engine->ldmatrix(tw_self(), d, offset + Offset, N, false, &site);
}
template <int N, int Offset = 0>
TW_DEVICE void tw_ldmatrix_trans(u32* d, u32 offset, tw_at at = {}) {
  TW_SITE("tw_ldmatrix_trans");
  tw_self()->engine->ldmatrix(tw_self(), d, offset + Offset, N, true, &site);
}

// ---- global memory
// ------------------------------------------------------------------------------- A load of fewer
// than 4 bytes clears the rest of the word, as the machine does.
template <int Bytes, int Hint>
TW_DEVICE void tw_global_load_if(u32* w, u64 address, bool mask, tw_at at = {}) {
  if (!mask) return;
  TW_SITE("tw_global_load");
  if (Bytes < 4) w[0] = 0;
  tw_self()->engine->global_read(tw_self(), w, address, Bytes, &site);
}
template <int Bytes, int Hint>
TW_DEVICE void tw_global_load(u32* w, u64 address, tw_at at = {}) {
  tw_global_load_if<Bytes, Hint>(w, address, true, at);
}
template <int Bytes, int Hint>
TW_DEVICE void tw_global_store_if(u64 address, const u32* w, bool mask, tw_at at = {}) {
  if (!mask) return;
  TW_SITE("tw_global_store");
  tw_self()->engine->global_write(tw_self(), address, w, Bytes, &site);
}
template <int Bytes, int Hint>
TW_DEVICE void tw_global_store(u64 address, const u32* w, tw_at at = {}) {
  tw_global_store_if<Bytes, Hint>(address, w, true, at);
}

// ---- asynchronous copies
// -------------------------------------------------------------------------
#if __CUDA_ARCH__ >= 800
#define TW_HAS_CP_ASYNC 1
template <int Bytes, int Offset = 0>
TW_DEVICE void tw_cp_async_if(u32 offset, u64 address, bool mask, tw_at at = {}) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  TW_SITE("tw_cp_async");
  tw_self()->engine->copy_start(tw_self(), offset + Offset, address, Bytes, mask, &site);
}
template <int Bytes, int Offset = 0>
TW_DEVICE void tw_cp_async(u32 offset, u64 address, tw_at at = {}) {
  tw_cp_async_if<Bytes, Offset>(offset, address, true, at);
}
TW_DEVICE void tw_cp_async_commit(tw_at at = {}) {
  TW_SITE("tw_cp_async_commit");
  tw_self()->engine->copy_commit(tw_self(), &site);
}
template <int N>
TW_DEVICE void tw_cp_async_wait(tw_at at = {}) {
  static_assert(N >= 0, "a number of groups");
  TW_SITE("tw_cp_async_wait");
  tw_self()->engine->copy_wait(tw_self(), N, &site);
}
#endif

// ---- atomics
// -------------------------------------------------------------------------------------
#define TW_ATOMIC(name, type, op, element)                                             \
  template <int Scope>                                                                 \
  TW_DEVICE type name(u64 address, type v, tw_at at = {}) {                            \
    TW_SITE(#name);                                                                    \
    u64 bits = tw_bitcast<tw_bits_of<type>>(v);                                        \
    bits = tw_self()->engine->atomic(tw_self(), op, element, address, bits, 0, &site); \
    return tw_bitcast<type>((tw_bits_of<type>)bits);                                   \
  }
TW_ATOMIC(tw_atom_add, u32, kTwAdd, kTwU32)
TW_ATOMIC(tw_atom_add, u64, kTwAdd, kTwU64)
TW_ATOMIC(tw_atom_add, f32, kTwAdd, kTwF32)
TW_ATOMIC(tw_atom_add, f64, kTwAdd, kTwF64)
TW_ATOMIC(tw_atom_add_f16, u16, kTwAdd, kTwF16)
#if __CUDA_ARCH__ >= 900
TW_ATOMIC(tw_atom_add_bf16, u16, kTwAdd, kTwBf16)
#define TW_HAS_ATOM_ADD_BF16 1
#endif
TW_ATOMIC(tw_atom_min, i32, kTwMin, kTwI32)
TW_ATOMIC(tw_atom_min, u32, kTwMin, kTwU32)
TW_ATOMIC(tw_atom_min, i64, kTwMin, kTwI64)
TW_ATOMIC(tw_atom_min, u64, kTwMin, kTwU64)
TW_ATOMIC(tw_atom_max, i32, kTwMax, kTwI32)
TW_ATOMIC(tw_atom_max, u32, kTwMax, kTwU32)
TW_ATOMIC(tw_atom_max, i64, kTwMax, kTwI64)
TW_ATOMIC(tw_atom_max, u64, kTwMax, kTwU64)
TW_ATOMIC(tw_atom_and, u32, kTwAnd, kTwU32)
TW_ATOMIC(tw_atom_and, u64, kTwAnd, kTwU64)
TW_ATOMIC(tw_atom_or, u32, kTwOr, kTwU32)
TW_ATOMIC(tw_atom_or, u64, kTwOr, kTwU64)
TW_ATOMIC(tw_atom_xor, u32, kTwXor, kTwU32)
TW_ATOMIC(tw_atom_xor, u64, kTwXor, kTwU64)
TW_ATOMIC(tw_atom_xchg, u32, kTwExchange, kTwU32)
TW_ATOMIC(tw_atom_xchg, u64, kTwExchange, kTwU64)
#undef TW_ATOMIC
// Neighbours one by one: only each element is atomic.
template <int Scope, int N>
TW_DEVICE void tw_red_add_f16x2(u64 address, const u32* v, tw_at at = {}) {
  for (int i = 0; i < 2 * N; ++i)
    tw_atom_add_f16<Scope>(address + 2 * i, (u16)(v[i / 2] >> i % 2 * 16), at);
}
#if __CUDA_ARCH__ >= 900
#define TW_HAS_RED_VECTORS 1
template <int Scope, int N>
TW_DEVICE void tw_red_add_f32(u64 address, const f32* v, tw_at at = {}) {
  for (int i = 0; i < N; ++i) tw_atom_add<Scope>(address + 4 * i, v[i], at);
}
template <int Scope, int N>
TW_DEVICE void tw_red_add_bf16x2(u64 address, const u32* v, tw_at at = {}) {
  for (int i = 0; i < 2 * N; ++i)
    tw_atom_add_bf16<Scope>(address + 2 * i, (u16)(v[i / 2] >> i % 2 * 16), at);
}
#endif
#define TW_ATOMIC_CAS(type, element)                                                       \
  template <int Scope>                                                                     \
  TW_DEVICE type tw_atom_cas(u64 address, type expected, type v, tw_at at = {}) {          \
    TW_SITE("tw_atom_cas");                                                                \
    return (type)tw_self()->engine->atomic(tw_self(), kTwCompareSwap, element, address, v, \
                                           expected, &site);                               \
  }
TW_ATOMIC_CAS(u16, kTwU16)
TW_ATOMIC_CAS(u32, kTwU32)
TW_ATOMIC_CAS(u64, kTwU64)
#undef TW_ATOMIC_CAS

// ---- tensor cores
// --------------------------------------------------------------------------------
#define TW_MMA(name, d_type, ab_type, m, n, k, a_element, b_element, sum)             \
  TW_DEVICE void name(d_type* d, const ab_type* a, const ab_type* b, tw_at at = {}) { \
    static const tw_mma_shape shape = {m, n, k, a_element, b_element, sum};           \
    TW_SITE(#name);                                                                   \
    tw_self()->engine->mma(tw_self(), &shape, d, a, b, &site);                        \
  }
TW_MMA(tw_mma_m16n8k8_f16, f32, u32, 16, 8, 8, kTwMmaF16, kTwMmaF16, kTwSumF32)
TW_MMA(tw_mma_m16n8k8_f16_to_f16, f16, u32, 16, 8, 8, kTwMmaF16, kTwMmaF16, kTwSumF16)
TW_MMA(tw_mma_m8n8k16_i8, i32, u32, 8, 8, 16, kTwMmaI8, kTwMmaI8, kTwSumI32)
TW_MMA(tw_mma_m8n8k16_u8, i32, u32, 8, 8, 16, kTwMmaU8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m8n8k16_i8_u8, i32, u32, 8, 8, 16, kTwMmaI8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m8n8k16_u8_i8, i32, u32, 8, 8, 16, kTwMmaU8, kTwMmaI8, kTwSumI32)
#if __CUDA_ARCH__ >= 800
TW_MMA(tw_mma_m16n8k16_f16, f32, u32, 16, 8, 16, kTwMmaF16, kTwMmaF16, kTwSumF32)
TW_MMA(tw_mma_m16n8k16_f16_to_f16, f16, u32, 16, 8, 16, kTwMmaF16, kTwMmaF16, kTwSumF16)
TW_MMA(tw_mma_m16n8k16_bf16, f32, u32, 16, 8, 16, kTwMmaBf16, kTwMmaBf16, kTwSumF32)
TW_MMA(tw_mma_m16n8k8_bf16, f32, u32, 16, 8, 8, kTwMmaBf16, kTwMmaBf16, kTwSumF32)
TW_MMA(tw_mma_m16n8k8_tf32, f32, u32, 16, 8, 8, kTwMmaTf32, kTwMmaTf32, kTwSumF32)
TW_MMA(tw_mma_m16n8k4_tf32, f32, u32, 16, 8, 4, kTwMmaTf32, kTwMmaTf32, kTwSumF32)
TW_MMA(tw_mma_m16n8k32_i8, i32, u32, 16, 8, 32, kTwMmaI8, kTwMmaI8, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_u8, i32, u32, 16, 8, 32, kTwMmaU8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_i8_u8, i32, u32, 16, 8, 32, kTwMmaI8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_u8_i8, i32, u32, 16, 8, 32, kTwMmaU8, kTwMmaI8, kTwSumI32)
TW_MMA(tw_mma_m16n8k16_i8, i32, u32, 16, 8, 16, kTwMmaI8, kTwMmaI8, kTwSumI32)
TW_MMA(tw_mma_m16n8k16_u8, i32, u32, 16, 8, 16, kTwMmaU8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m16n8k16_i8_u8, i32, u32, 16, 8, 16, kTwMmaI8, kTwMmaU8, kTwSumI32)
TW_MMA(tw_mma_m16n8k16_u8_i8, i32, u32, 16, 8, 16, kTwMmaU8, kTwMmaI8, kTwSumI32)
TW_MMA(tw_mma_m8n8k4_f64, f64, f64, 8, 8, 4, kTwMmaF64, kTwMmaF64, kTwSumF64)
#endif
#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900
TW_MMA(tw_mma_m16n8k64_i4, i32, u32, 16, 8, 64, kTwMmaI4, kTwMmaI4, kTwSumI32)
TW_MMA(tw_mma_m16n8k64_u4, i32, u32, 16, 8, 64, kTwMmaU4, kTwMmaU4, kTwSumI32)
TW_MMA(tw_mma_m16n8k64_i4_u4, i32, u32, 16, 8, 64, kTwMmaI4, kTwMmaU4, kTwSumI32)
TW_MMA(tw_mma_m16n8k64_u4_i4, i32, u32, 16, 8, 64, kTwMmaU4, kTwMmaI4, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_i4, i32, u32, 16, 8, 32, kTwMmaI4, kTwMmaI4, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_u4, i32, u32, 16, 8, 32, kTwMmaU4, kTwMmaU4, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_i4_u4, i32, u32, 16, 8, 32, kTwMmaI4, kTwMmaU4, kTwSumI32)
TW_MMA(tw_mma_m16n8k32_u4_i4, i32, u32, 16, 8, 32, kTwMmaU4, kTwMmaI4, kTwSumI32)
#endif
#if __CUDA_ARCH__ >= 890
TW_MMA(tw_mma_m16n8k32_f8e4m3, f32, u32, 16, 8, 32, kTwMmaE4m3, kTwMmaE4m3, kTwSumF32)
TW_MMA(tw_mma_m16n8k32_f8e5m2, f32, u32, 16, 8, 32, kTwMmaE5m2, kTwMmaE5m2, kTwSumF32)
TW_MMA(tw_mma_m16n8k32_f8e4m3_f8e5m2, f32, u32, 16, 8, 32, kTwMmaE4m3, kTwMmaE5m2, kTwSumF32)
TW_MMA(tw_mma_m16n8k32_f8e5m2_f8e4m3, f32, u32, 16, 8, 32, kTwMmaE5m2, kTwMmaE4m3, kTwSumF32)
TW_MMA(tw_mma_m16n8k32_f8e4m3_to_f16, f16, u32, 16, 8, 32, kTwMmaE4m3, kTwMmaE4m3, kTwSumF16)
TW_MMA(tw_mma_m16n8k32_f8e5m2_to_f16, f16, u32, 16, 8, 32, kTwMmaE5m2, kTwMmaE5m2, kTwSumF16)
TW_MMA(tw_mma_m16n8k32_f8e4m3_f8e5m2_to_f16, f16, u32, 16, 8, 32, kTwMmaE4m3, kTwMmaE5m2, kTwSumF16)
TW_MMA(tw_mma_m16n8k32_f8e5m2_f8e4m3_to_f16, f16, u32, 16, 8, 32, kTwMmaE5m2, kTwMmaE4m3, kTwSumF16)
#endif
#if __CUDA_ARCH__ >= 900
TW_MMA(tw_mma_m16n8k8_f64, f64, f64, 16, 8, 8, kTwMmaF64, kTwMmaF64, kTwSumF64)
TW_MMA(tw_mma_m16n8k16_f64, f64, f64, 16, 8, 16, kTwMmaF64, kTwMmaF64, kTwSumF64)
#endif
#undef TW_MMA
#define TW_MMA_SP(name, d_type, k, a_element, b_element, sum)                               \
  template <int Selector>                                                                   \
  TW_DEVICE void name(d_type* d, const u32* a, const u32* b, u32 metadata, tw_at at = {}) { \
    static const tw_mma_shape shape = {16, 8, k, a_element, b_element, sum};                \
    TW_SITE(#name);                                                                         \
    tw_self()->engine->mma_sparse(tw_self(), &shape, d, a, b, metadata, Selector, &site);   \
  }
#if __CUDA_ARCH__ >= 800
TW_MMA_SP(tw_mma_sp_m16n8k16_f16, f32, 16, kTwMmaF16, kTwMmaF16, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k32_f16, f32, 32, kTwMmaF16, kTwMmaF16, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k16_bf16, f32, 16, kTwMmaBf16, kTwMmaBf16, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k32_bf16, f32, 32, kTwMmaBf16, kTwMmaBf16, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k8_tf32, f32, 8, kTwMmaTf32, kTwMmaTf32, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k16_tf32, f32, 16, kTwMmaTf32, kTwMmaTf32, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k32_i8, i32, 32, kTwMmaI8, kTwMmaI8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k64_i8, i32, 64, kTwMmaI8, kTwMmaI8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k32_i8_u8, i32, 32, kTwMmaI8, kTwMmaU8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k64_i8_u8, i32, 64, kTwMmaI8, kTwMmaU8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k32_u8_i8, i32, 32, kTwMmaU8, kTwMmaI8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k64_u8_i8, i32, 64, kTwMmaU8, kTwMmaI8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k32_u8, i32, 32, kTwMmaU8, kTwMmaU8, kTwSumI32)
TW_MMA_SP(tw_mma_sp_m16n8k64_u8, i32, 64, kTwMmaU8, kTwMmaU8, kTwSumI32)
#endif
#if __CUDA_ARCH__ >= 890
TW_MMA_SP(tw_mma_sp_m16n8k64_f8e4m3, f32, 64, kTwMmaE4m3, kTwMmaE4m3, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k64_f8e4m3_f8e5m2, f32, 64, kTwMmaE4m3, kTwMmaE5m2, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k64_f8e5m2_f8e4m3, f32, 64, kTwMmaE5m2, kTwMmaE4m3, kTwSumF32)
TW_MMA_SP(tw_mma_sp_m16n8k64_f8e5m2, f32, 64, kTwMmaE5m2, kTwMmaE5m2, kTwSumF32)
#endif
#undef TW_MMA_SP
#define TW_MMA_SCALED(name, k, a_element, b_element, type, count)                                 \
  template <int ByteA, int ThreadA, int ByteB, int ThreadB>                                       \
  TW_DEVICE void name(f32* d, const u32* a, const u32* b, u32 scale_a, u32 scale_b,               \
                      tw_at at = {}) {                                                            \
    static const tw_mma_shape shape = {16, 8, k, a_element, b_element, kTwSumF32};                \
    static const tw_mma_scaling scaling = {type, count, ByteA, ThreadA, ByteB, ThreadB};          \
    TW_SITE(#name);                                                                               \
    tw_self()->engine->mma_scaled(tw_self(), &shape, &scaling, d, a, b, scale_a, scale_b, &site); \
  }
#if __CUDA_ARCH__ >= 1200
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e4m3, 32, kTwMmaE4m3, kTwMmaE4m3, kTwScaleUe8m0, 1)
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e5m2, 32, kTwMmaE5m2, kTwMmaE5m2, kTwScaleUe8m0, 1)
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e4m3_f8e5m2, 32, kTwMmaE4m3, kTwMmaE5m2, kTwScaleUe8m0, 1)
TW_MMA_SCALED(tw_mma_mxf8_m16n8k32_f8e5m2_f8e4m3, 32, kTwMmaE5m2, kTwMmaE4m3, kTwScaleUe8m0, 1)
TW_MMA_SCALED(tw_mma_mxf4_m16n8k64, 64, kTwMmaE2m1, kTwMmaE2m1, kTwScaleUe8m0, 2)
TW_MMA_SCALED(tw_mma_nvf4_m16n8k64, 64, kTwMmaE2m1, kTwMmaE2m1, kTwScaleUe4m3, 4)
#endif
#undef TW_MMA_SCALED
TW_DEVICE u32 tw_tf32(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
}
TW_DEVICE u32 tw_tf32_operand(f32 x) {
  return tw_tf32(x);
}

// ---- conversions
// --------------------------------------------------------------------------------- An f32 to a
// float of 5 exponent bits and Fraction bits, in the low bits; the magnitude only. Rounding works
// on the bits: what is cut off decides whether to add one, and a carry out of the fraction moves
// into the exponent by itself.
template <int Fraction>
TW_DEVICE u32 tw_host_round_half(u32 magnitude, bool toward_zero) {
  const int drop = 23 - Fraction;
  const u32 infinity = 31u << Fraction;
  if (magnitude > 0x7f800000u) return infinity | ((1u << Fraction) - 1);
  if (magnitude == 0x7f800000u) return infinity;
  i32 exponent = (i32)(magnitude >> 23) - 127;
  u32 significand = magnitude & 0x7fffffu, result;
  if (exponent < -14) {
    int shift = drop + (-14 - exponent);
    if (shift > 31) return 0;
    significand |= 0x800000u;
    u32 rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
    result = significand >> shift;
    if (!toward_zero && (rest > half || (rest == half && (result & 1)))) ++result;
    return result;
  }
  u32 rest = significand & ((1u << drop) - 1), half = 1u << (drop - 1);
  result = (u32)(exponent + 15) << Fraction | significand >> drop;
  if (!toward_zero && (rest > half || (rest == half && (result & 1)))) ++result;
  if (result >= infinity || exponent > 15) return toward_zero ? infinity - 1 : infinity;
  return result;
}
TW_DEVICE f32 tw_f32(f32 x) {
  return x;
}
TW_DEVICE f32 tw_f32(f16 x) {
  u32 sign = (u32)(x.bits >> 15) << 31, magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return tw_bitcast<f32>(sign | 0x7f800000u | magnitude << 13);
  // Under f32's bias the value is too small by 2^112; the product is exact.
  return tw_bitcast<f32>(sign |
                         tw_bitcast<u32>(tw_bitcast<f32>(magnitude << 13) * 5.192296858534828e33f));
}
TW_DEVICE f32 tw_f32(bf16 x) {
  return tw_bitcast<f32>((u32)x.bits << 16);
}
TW_DEVICE f16 tw_f16(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  if (x != x) return f16{0x7fff};
  return f16{(u16)(bits >> 31 << 15 | tw_host_round_half<10>(bits & 0x7fffffffu, false))};
}
TW_DEVICE f16 tw_f16_rtz(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  if (x != x) return f16{0x7fff};
  return f16{(u16)(bits >> 31 << 15 | tw_host_round_half<10>(bits & 0x7fffffffu, true))};
}
TW_DEVICE bf16 tw_bf16(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  return bf16{(u16)(x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
TW_DEVICE u32 tw_pack_f16(f32 low, f32 high) {
  return tw_pack_b16(tw_f16(low).bits, tw_f16(high).bits);
}
TW_DEVICE u32 tw_pack_bf16(f32 low, f32 high) {
  return tw_pack_b16(tw_bf16(low).bits, tw_bf16(high).bits);
}
#if __CUDA_ARCH__ >= 890
#define TW_HAS_FP8_CVT 1
TW_DEVICE u8 tw_cvt_f8e5m2(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  u8 sign = (u8)(bits >> 31 << 7);
  if (x != x) return (u8)(sign | 0x7f);
  u32 rounded = tw_host_round_half<2>(bits & 0x7fffffffu, false);
  return (u8)(sign | (rounded > 0x7bu ? 0x7bu : rounded));
}
TW_DEVICE u8 tw_cvt_f8e4m3(f32 x) {
  u32 bits = tw_bitcast<u32>(x);
  u8 sign = (u8)(bits >> 31 << 7);
  if (x != x) return (u8)(sign | 0x7f);
  // Counted in steps of the last place: 2^(exponent - 3), no finer than 2^-9.
  f32 magnitude = tw_bitcast<f32>(bits & 0x7fffffffu);
  if (magnitude >= 448.0f) return (u8)(sign | 0x7e);
  i32 exponent = (i32)(bits >> 23 & 0xff) - 127;
  if (exponent < -6) exponent = -6;
  f32 steps = __builtin_rintf(__builtin_ldexpf(magnitude, 3 - exponent));
  u32 rounded = steps < 8.0f ? (u32)steps : ((u32)(exponent + 6) << 3) + (u32)steps;
  return (u8)(sign | (rounded > 0x7eu ? 0x7eu : rounded));
}
#endif
#if __CUDA_ARCH__ >= 890
TW_DEVICE u32 tw_cvt_f16x2_f8e4m3(u16 x) {
  u32 r = 0;
  for (int i = 0; i < 2; ++i) {
    u32 bits = x >> 8 * i & 0xff, magnitude = bits & 0x7f;
    f32 value = tw_bitcast<f32>(magnitude << 20) * 1.329227995784916e36f;
    u32 half = magnitude == 0x7f ? 0x7fffu : (bits & 0x80) << 8 | tw_f16(value).bits;
    r |= half << 16 * i;
  }
  return r;
}
#endif
TW_DEVICE f32 tw_f32_rtz(f64 x) {
  f32 r = (f32)x;
  if (x != x || __builtin_isinf(x) || (f64)__builtin_fabsf(r) <= __builtin_fabs(x)) return r;
  return tw_bitcast<f32>(tw_bitcast<u32>(r) - 1);  // rounded away from zero: one step back
}
// Saturating. NaN gives a value that no caller expects, since the machine leaves it open.
template <class To, class From>
TW_DEVICE To tw_host_cvt(From x, To low, To high, From below, From above) {
  if (x != x) return (To)0x7a7a7a7a7a7a7a7aull;
  if (x < below) return low;
  if (x >= above) return high;
  return (To)x;
}
TW_DEVICE i32 tw_cvt_i32(f32 x) {
  return tw_host_cvt<i32>(x, -0x7fffffff - 1, 0x7fffffff, -0x1p31f, 0x1p31f);
}
TW_DEVICE u32 tw_cvt_u32(f32 x) {
  return tw_host_cvt<u32>(x, 0, ~0u, 0.0f, 0x1p32f);
}
TW_DEVICE i64 tw_cvt_i64(f32 x) {
  return tw_host_cvt<i64>(x, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll, -0x1p63f, 0x1p63f);
}
TW_DEVICE u64 tw_cvt_u64(f32 x) {
  return tw_host_cvt<u64>(x, 0, ~0ull, 0.0f, 0x1p64f);
}
TW_DEVICE i32 tw_cvt_i32(f64 x) {
  return tw_host_cvt<i32>(x, -0x7fffffff - 1, 0x7fffffff, -0x1p31, 0x1p31);
}
TW_DEVICE u32 tw_cvt_u32(f64 x) {
  return tw_host_cvt<u32>(x, 0, ~0u, 0.0, 0x1p32);
}
TW_DEVICE i64 tw_cvt_i64(f64 x) {
  return tw_host_cvt<i64>(x, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll, -0x1p63, 0x1p63);
}
TW_DEVICE u64 tw_cvt_u64(f64 x) {
  return tw_host_cvt<u64>(x, 0, ~0ull, 0.0, 0x1p64);
}

// ---- arithmetic
// ----------------------------------------------------------------------------------
TW_DEVICE i32 tw_mulhi(i32 a, i32 b) {
  return (i32)((i64)a * b >> 32);
}
TW_DEVICE u32 tw_mulhi(u32 a, u32 b) {
  return (u32)((u64)a * b >> 32);
}
TW_DEVICE i64 tw_mulhi(i64 a, i64 b) {
  return (i64)((__int128)a * b >> 64);
}
TW_DEVICE u64 tw_mulhi(u64 a, u64 b) {
  return (u64)((unsigned __int128)a * b >> 64);
}
TW_DEVICE u64 tw_mul_wide(u32 a, u32 b) {
  return (u64)a * b;
}
#define TW_PAIR(name, type, expression)                                     \
  TW_DEVICE u32 name(u32 a, u32 b) {                                        \
    u32 r = 0;                                                              \
    for (int i = 0; i < 32; i += 16) {                                      \
      f32 x = tw_f32(type{(u16)(a >> i)}), y = tw_f32(type{(u16)(b >> i)}); \
      r |= (u32)tw_##type(expression).bits << i;                            \
    }                                                                       \
    return r;                                                               \
  }
TW_PAIR(tw_add_f16x2, f16, x + y)
TW_PAIR(tw_sub_f16x2, f16, x - y)
TW_PAIR(tw_mul_f16x2, f16, x* y)
TW_PAIR(tw_add_bf16x2, bf16, x + y)
TW_PAIR(tw_sub_bf16x2, bf16, x - y)
TW_PAIR(tw_mul_bf16x2, bf16, x* y)
TW_DEVICE f32 tw_fma(f32 a, f32 b, f32 c) {
  return __builtin_fmaf(a, b, c);
}
TW_DEVICE f64 tw_fma(f64 a, f64 b, f64 c) {
  return __builtin_fma(a, b, c);
}
TW_DEVICE u32 tw_fma_f16x2(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 32; i += 16) {
    f64 x = tw_f32(f16{(u16)(a >> i)}), y = tw_f32(f16{(u16)(b >> i)}),
        z = tw_f32(f16{(u16)(c >> i)});
    f64 exact = x * y + z;  // but for a last bit that no f16 has room for
    f32 sum = (f32)exact;
    if ((f64)sum != exact) sum = tw_bitcast<f32>(tw_bitcast<u32>(tw_f32_rtz(exact)) | 1);
    r |= (u32)tw_f16(sum).bits << i;
  }
  return r;
}
#define TW_MIN_MAX(type)                             \
  TW_DEVICE type tw_min(type a, type b) {            \
    if (a != a || b != b) return a != a ? b : a;     \
    if (a == b) return __builtin_signbit(a) ? a : b; \
    return a < b ? a : b;                            \
  }                                                  \
  TW_DEVICE type tw_max(type a, type b) {            \
    if (a != a || b != b) return a != a ? b : a;     \
    if (a == b) return __builtin_signbit(a) ? b : a; \
    return a > b ? a : b;                            \
  }
TW_MIN_MAX(f32)
TW_MIN_MAX(f64)
#undef TW_MIN_MAX
#if __CUDA_ARCH__ >= 800
TW_PAIR(tw_min_f16x2, f16, tw_min(x, y))
TW_PAIR(tw_max_f16x2, f16, tw_max(x, y))
TW_PAIR(tw_min_nan_f16x2, f16, x != x || y != y ? x + y : tw_min(x, y))
TW_PAIR(tw_max_nan_f16x2, f16, x != x || y != y ? x + y : tw_max(x, y))
TW_PAIR(tw_min_bf16x2, bf16, tw_min(x, y))
TW_PAIR(tw_max_bf16x2, bf16, tw_max(x, y))
TW_PAIR(tw_min_nan_bf16x2, bf16, x != x || y != y ? x + y : tw_min(x, y))
TW_PAIR(tw_max_nan_bf16x2, bf16, x != x || y != y ? x + y : tw_max(x, y))
#endif
#undef TW_PAIR
TW_DEVICE f32 tw_div(f32 a, f32 b) {
  return a / b;
}
TW_DEVICE f64 tw_div(f64 a, f64 b) {
  return a / b;
}
TW_DEVICE f32 tw_div_rn(f32 a, f32 b) {
  return a / b;
}
TW_DEVICE f64 tw_div_rn(f64 a, f64 b) {
  return a / b;
}
TW_DEVICE f32 tw_rem(f32 a, f32 b) {
  return __builtin_fmodf(a, b);
}
TW_DEVICE f64 tw_rem(f64 a, f64 b) {
  return __builtin_fmod(a, b);
}
TW_DEVICE f32 tw_exp2(f32 x) {
  return (f32)__builtin_exp2((f64)x);
}
TW_DEVICE f32 tw_rsqrt(f32 x) {
  return (f32)(1.0 / __builtin_sqrt((f64)x));
}
TW_DEVICE f32 tw_log(f32 x) {
  return (f32)__builtin_log((f64)x);
}
TW_DEVICE f32 tw_log2(f32 x) {
  return (f32)__builtin_log2((f64)x);
}
TW_DEVICE f32 tw_tanh(f32 x) {
  return (f32)__builtin_tanh((f64)x);
}
TW_DEVICE f32 tw_erf(f32 x) {
  return (f32)__builtin_erf((f64)x);
}
TW_DEVICE f32 tw_sqrt(f32 x) {
  return __builtin_sqrtf(x);
}
TW_DEVICE f32 tw_sqrt_rn(f32 x) {
  return __builtin_sqrtf(x);
}
TW_DEVICE f32 tw_floor(f32 x) {
  return __builtin_floorf(x);
}
TW_DEVICE f32 tw_ceil(f32 x) {
  return __builtin_ceilf(x);
}
TW_DEVICE f32 tw_abs(f32 x) {
  return __builtin_fabsf(x);
}
TW_DEVICE f64 tw_exp(f64 x) {
  return __builtin_exp(x);
}
TW_DEVICE f64 tw_exp2(f64 x) {
  return __builtin_exp2(x);
}
TW_DEVICE f64 tw_log(f64 x) {
  return __builtin_log(x);
}
TW_DEVICE f64 tw_log2(f64 x) {
  return __builtin_log2(x);
}
TW_DEVICE f64 tw_sin(f64 x) {
  return __builtin_sin(x);
}
TW_DEVICE f64 tw_cos(f64 x) {
  return __builtin_cos(x);
}
TW_DEVICE f64 tw_tanh(f64 x) {
  return __builtin_tanh(x);
}
TW_DEVICE f64 tw_erf(f64 x) {
  return __builtin_erf(x);
}
TW_DEVICE f64 tw_sqrt(f64 x) {
  return __builtin_sqrt(x);
}
TW_DEVICE f64 tw_sqrt_rn(f64 x) {
  return __builtin_sqrt(x);
}
TW_DEVICE f64 tw_rsqrt(f64 x) {
  return 1.0 / __builtin_sqrt(x);
}
TW_DEVICE f64 tw_floor(f64 x) {
  return __builtin_floor(x);
}
TW_DEVICE f64 tw_ceil(f64 x) {
  return __builtin_ceil(x);
}
TW_DEVICE f64 tw_abs(f64 x) {
  return __builtin_fabs(x);
}
