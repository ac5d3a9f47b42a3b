"""C = A @ W for 8-bit weights with a scale for each column: weight-only quantisation, few rows.

W[k, n] = scale[n] * q[k, n], q int8, stored as q[N, K] (K contiguous). A[M, K] is float16 or bfloat16, scale[N] float32.
"""
import triton
import triton.language as tl


@triton.jit
def matmul_int8_persistent(
    a_ptr, q_ptr, scale_ptr, out_ptr, M, N, K, stride_am, stride_qn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """Grid: (any number of programs, tiles along M); twice the number of SMs is a good one. out is C[M, N] float32, zero
    before. All blocks of all tiles along N are one sequence, of which each program takes an equal share: it adds to out where a
    tile or its share ends, and its loads are under way across tiles."""
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    blocks = tl.cdiv(K, BLOCK_K)
    units = tl.cdiv(N, BLOCK_N) * blocks
    share = tl.cdiv(units, tl.num_programs(0))
    first = tl.program_id(0) * share
    last = min(first + share, units)
    block = first % blocks
    start = first // blocks * BLOCK_N  # the tile's first column

    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + ks[None, :]
    q_ptrs = q_ptr + cols[None, :] * stride_qn + ks[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for unit in range(first, last):
        left = K - block * BLOCK_K
        a = tl.load(a_ptrs + block * BLOCK_K, mask=ks[None, :] < left, other=0)
        q = tl.load(q_ptrs + block * BLOCK_K + start.to(tl.int64) * stride_qn, mask=(cols < N - start)[None, :] & (ks < left)[:, None], other=0)
        acc = tl.dot(a, q.to(a.dtype), acc)
        block += 1
        if (block == blocks) | (unit == last - 1):
            inside = start + cols < N
            scale = tl.load(scale_ptr + start + cols, mask=inside, other=0)
            places = rows[:, None] * N + (start + cols)[None, :]
            tl.atomic_add(out_ptr + places, acc * scale[None, :], mask=(rows[:, None] < M) & inside[None, :], sem="relaxed")
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        start += tl.where(block == blocks, BLOCK_N, 0)
        block = tl.where(block == blocks, 0, block)
