"""C = A @ B for an A that is 2:4 sparse, given by its kept values and their places.

a is [M, K/2]: of each four values of a row the two that are kept. meta holds their places in integers along K, two bits
each (tilewright.dot_sparse; float32: one of two values, four bits). Stored with stride_mm = 1, words of neighbouring rows
next to each other, metadata moves in whole sectors and needs no packing. K is a multiple of BLOCK_K: there are no masks
along K, as metadata of 0 means nothing.
"""
import triton
import triton.language as tl
from triton.language.extra import tilewright


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=8, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=8, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_sparse(
    a_ptr, meta_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_mm, stride_mk,
    stride_bk, stride_bn,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    ACC: tl.constexpr = tl.float32,
):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles_in_group = GROUP_M * tiles_n
    group = pid // tiles_in_group
    first_m = group * GROUP_M
    group_rows = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + (pid % tiles_in_group) % group_rows
    tile_n = (pid % tiles_in_group) // group_rows

    # Columns of A that one word of metadata is about.
    bits: tl.constexpr = meta_ptr.dtype.element_ty.primitive_bitwidth
    WORD_K: tl.constexpr = bits // 2 if a_ptr.dtype.element_ty.primitive_bitwidth == 32 else bits
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    kept = tl.arange(0, BLOCK_K // 2)
    words = tl.arange(0, BLOCK_K // WORD_K)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + kept[None, :] * stride_ak)
    meta_ptrs = meta_ptr + (rows[:, None] * stride_mm + words[None, :] * stride_mk)
    b_ptrs = b_ptr + (ks[:, None] * stride_bk + cols[None, :] * stride_bn)

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        acc = tilewright.dot_sparse(tl.load(a_ptrs), tl.load(meta_ptrs), tl.load(b_ptrs), acc)
        a_ptrs += BLOCK_K // 2 * stride_ak
        meta_ptrs += BLOCK_K // WORD_K * stride_mk
        b_ptrs += BLOCK_K * stride_bk
    c = acc.to(c_ptr.dtype.element_ty)

    c_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    c_cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * c_rows[:, None] + stride_cn * c_cols[None, :]
    tl.store(c_ptrs, c, mask=(c_rows[:, None] < M) & (c_cols[None, :] < N))
