"""C = (A * scales) @ (B * scales) for microscaling formats: MXFP8, MXFP4, NVFP4 and mixtures (tl.dot_scaled).

a is [M, K] and b [N, K] of bytes, rows along K (e2m1: [.., K/2], two numbers in a byte, the low one first). A scale goes
with 32 values of a row (uint8), or with 16 where it is float8e4nv. stride_sk is the distance between the scales of two
steps of BLOCK_K, so that they may lie row by row, or block by block and so in whole sectors. K is a multiple of BLOCK_K.
"""
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 128, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 128, "GROUP_M": 8}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, "GROUP_M": 8}, num_warps=8, num_stages=3),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, "GROUP_M": 8}, num_warps=4, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr,
    M, N, K,
    stride_am, stride_bn,
    stride_sam, stride_sak, stride_sbn, stride_sbk,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    FORMAT_A: tl.constexpr = "e4m3",
    FORMAT_B: tl.constexpr = "e4m3",
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

    A_K: tl.constexpr = BLOCK_K // 2 if FORMAT_A == "e2m1" else BLOCK_K
    B_K: tl.constexpr = BLOCK_K // 2 if FORMAT_B == "e2m1" else BLOCK_K
    RUNS: tl.constexpr = BLOCK_K // 16 if a_scale_ptr.dtype.element_ty == tl.float8e4nv else BLOCK_K // 32
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    runs = tl.arange(0, RUNS)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + tl.arange(0, A_K)[None, :])
    b_ptrs = b_ptr + (cols[None, :] * stride_bn + tl.arange(0, B_K)[:, None])
    a_scales = a_scale_ptr + (rows[:, None] * stride_sam + runs[None, :])
    b_scales = b_scale_ptr + (cols[:, None] * stride_sbn + runs[None, :])

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        acc = tl.dot_scaled(tl.load(a_ptrs), tl.load(a_scales), FORMAT_A, tl.load(b_ptrs), tl.load(b_scales), FORMAT_B, acc)
        a_ptrs += A_K
        b_ptrs += B_K
        a_scales += stride_sak
        b_scales += stride_sbk
    c = acc.to(c_ptr.dtype.element_ty)

    c_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    c_cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * c_rows[:, None] + stride_cn * c_cols[None, :]
    tl.store(c_ptrs, c, mask=(c_rows[:, None] < M) & (c_cols[None, :] < N))
