"""C = A @ W for 4-bit weights with a scale for each group of K and column: weight-only quantisation, few rows.

W[k, n] = scale[k // 128, n] * (q[k, n] - 8), q in 0 … 15. Packed weights are int16. Each block of 256 rows of K is cut into
four quarters of 64, and word i of block b and column n, at packed_ptr + b * stride_pb + n * stride_pn + i, holds in bits
4 * s … 4 * s + 3 the q of row 256 * b + 64 * s + i. So one 16-bit word feeds four products, neighbours along K lie side by side
in a register pair, and a quarter lies within one scale group. packed[K // 256, N, 64] is what memory likes best: the words
that a program reads at a time are one run. packed[N, K // 4] works too. K is a multiple of 256; A[M, K] is float16,
scale[K // 128, N] is float16.
"""
import triton
import triton.language as tl


@triton.jit
def matmul_int4(
    a_ptr, packed_ptr, scale_ptr, out_ptr, M, N, K, stride_am, stride_pb, stride_pn, stride_sg,
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
    packed_ptrs = packed_ptr + first.to(tl.int64) * stride_pb + (cols % N)[None, :] * stride_pn + ks[:, None]
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
        packed_ptrs += stride_pb
        scale_ptrs += 2 * stride_sg

    inside = (rows[:, None] < M) & (cols[None, :] < N)
    places = rows[:, None] * N + cols[None, :]
    if ATOMIC:
        tl.atomic_add(out_ptr + places, acc, mask=inside, sem="relaxed")
    else:
        tl.store(out_ptr + split.to(tl.int64) * M * N + places, acc, mask=inside)


@triton.jit
def matmul_int4_persistent(
    a_ptr, packed_ptr, scale_ptr, out_ptr, M, N, K, stride_am, stride_pb, stride_pn, stride_sg,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """Grid: (any number of programs, tiles along M); twice the number of SMs is a good one. out is C[M, N] float32, zero
    before. All blocks of all tiles along N are one sequence, of which each program takes an equal share: it adds to out where a
    tile or its share ends, and its loads are under way across tiles."""
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, 64)
    blocks = K // 256
    units = tl.cdiv(N, BLOCK_N) * blocks
    share = tl.cdiv(units, tl.num_programs(0))
    first = tl.program_id(0) * share
    last = min(first + share, units)
    block = first % blocks
    start = first // blocks * BLOCK_N  # the tile's first column

    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + ks[None, :]
    packed_ptrs = packed_ptr + cols[None, :] * stride_pn + ks[:, None]
    scale_ptrs = scale_ptr + cols
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for unit in range(first, last):
        inside = cols < N - start
        offset = block.to(tl.int64) * stride_pb + start.to(tl.int64) * stride_pn
        packed = tl.load(packed_ptrs + offset, mask=inside[None, :], other=0)
        for group in tl.static_range(2):
            part = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for quarter in tl.static_range(2):
                s = group * 2 + quarter
                a = tl.load(a_ptrs + block * 256 + s * 64)
                q = ((packed >> (s * 4)) & 15).to(tl.float16) - 8.0
                part = tl.dot(a, q, part)
            scale = tl.load(scale_ptrs + (block * 2 + group) * stride_sg + start, mask=inside, other=0)
            acc += part * scale.to(tl.float32)[None, :]
        block += 1
        if (block == blocks) | (unit == last - 1):
            places = rows[:, None] * N + (start + cols)[None, :]
            tl.atomic_add(out_ptr + places, acc, mask=(rows[:, None] < M) & inside[None, :], sem="relaxed")
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        start += tl.where(block == blocks, BLOCK_N, 0)
        block = tl.where(block == blocks, 0, block)
