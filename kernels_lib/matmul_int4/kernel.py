"""C = A @ W for 4-bit weights with a scale for each group of K and column: weight-only quantisation, few rows.

W[k, n] = scale[k // 128, n] * (q[k, n] - 8), q in 0 … 15. Packed weights are int16, K contiguous: packed[n, K // 4]. Each block
of 256 rows of K is cut into four quarters of 64, and packed[n, 64 * block + i] holds in bits 4 * s … 4 * s + 3 the q of row
256 * block + 64 * s + i. So one 16-bit word feeds four products, neighbours along K lie side by side in a register pair, and a
quarter lies within one scale group. K is a multiple of 256; A[M, K] is float16, scale[K // 128, N] is float16.
"""
import triton
import triton.language as tl


@triton.jit
def matmul_int4(
    a_ptr, packed_ptr, scale_ptr, out_ptr, M, N, K, stride_am, stride_pn, stride_sg,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, ATOMIC: tl.constexpr,
):
    """Grid: (tiles along N, splits of K, tiles along M). out is C[M, N] float32, zero before, with ATOMIC; otherwise
    workspace[splits, M, N] float32."""
    rows = tl.program_id(2) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, 64)
    split, splits = tl.program_id(1), tl.num_programs(1)
    blocks = K // 256
    share = tl.cdiv(blocks, splits)
    first = split * share
    last = min(first + share, blocks)

    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + (first * 256 + ks)[None, :]
    packed_ptrs = packed_ptr + (cols % N)[None, :] * stride_pn + (first * 64 + ks)[:, None]
    scale_ptrs = scale_ptr + first * 2 * stride_sg + cols % N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(first, last):
        packed = tl.load(packed_ptrs)
        for group in tl.static_range(2):
            part = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for quarter in tl.static_range(2):
                s = group * 2 + quarter
                a = tl.load(a_ptrs + s * 64)
                q = ((packed >> (s * 4)) & 15).to(tl.float16) - 8.0
                part = tl.dot(a, q, part)
            acc += part * tl.load(scale_ptrs + group * stride_sg).to(tl.float32)[None, :]
        a_ptrs += 256
        packed_ptrs += 64
        scale_ptrs += 2 * stride_sg

    inside = (rows[:, None] < M) & (cols[None, :] < N)
    places = rows[:, None] * N + cols[None, :]
    if ATOMIC:
        tl.atomic_add(out_ptr + places, acc, mask=inside, sem="relaxed")
    else:
        tl.store(out_ptr + split.to(tl.int64) * M * N + places, acc, mask=inside)
