"""C = A @ B for few tiles and a long K: the work along K is divided among programs.

split-K: SPLITS programs a tile, each with an equal share of K. Either they add to C with atomics (C is float32 and starts
at zero; the order of the sums varies from run to run), or each writes its sum to workspace[split, M, N] and matmul_reduce
adds them in order, which is deterministic.
stream-K (Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU",
2023): each program does an equal run of K steps, across tiles. A tile that several programs share is finished by the one
with its last steps, which adds the others' sums in a fixed order: deterministic, and no program waits for a later one.
"""
import triton
import triton.language as tl


@triton.jit
def tile_place(tile, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Row and column of a tile, in groups of GROUP_M rows of tiles."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_in_group = GROUP_M * tl.cdiv(N, BLOCK_N)
    first_m = tile // tiles_in_group * GROUP_M
    group_rows = min(tiles_m - first_m, GROUP_M)
    return first_m + (tile % tiles_in_group) % group_rows, (tile % tiles_in_group) // group_rows


@triton.jit
def multiply(
    a_ptr, b_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, tile_m, tile_n, first, last,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """The sum over K steps first, …, last-1 of one tile."""
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + (first * BLOCK_K + ks[None, :]) * stride_ak)
    b_ptrs = b_ptr + ((first * BLOCK_K + ks[:, None]) * stride_bk + cols[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(first, last):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - step * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - step * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    return acc


@triton.jit
def matmul_split_k(
    a_ptr, b_ptr, out_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, ATOMIC: tl.constexpr,
):
    """Grid: (tiles, splits). out is C[M, N] with ATOMIC, else workspace[splits, M, N]; float32, row-major."""
    tile_m, tile_n = tile_place(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    split, splits = tl.program_id(1), tl.num_programs(1)
    share = tl.cdiv(tl.cdiv(K, BLOCK_K), splits)
    first = split * share
    acc = multiply(a_ptr, b_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, tile_m, tile_n, first,
                   min(first + share, tl.cdiv(K, BLOCK_K)), BLOCK_M, BLOCK_N, BLOCK_K)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    places = rows[:, None] * N + cols[None, :]
    if ATOMIC:
        tl.atomic_add(out_ptr + places, acc, mask=inside, sem="relaxed")
    else:
        tl.store(out_ptr + split.to(tl.int64) * M * N + places, acc, mask=inside)


@triton.jit
def matmul_reduce(work_ptr, c_ptr, count, splits, BLOCK: tl.constexpr):
    """C[i] = sum over splits of work[split, i], in order; count = M * N."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for split in range(splits):
        acc += tl.load(work_ptr + split.to(tl.int64) * count + places, mask=inside, other=0.0)
    tl.store(c_ptr + places, acc.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def matmul_stream_k(
    a_ptr, b_ptr, c_ptr, work_ptr, flag_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """Grid: any number of programs. work[programs, BLOCK_M, BLOCK_N] float32, flags[programs] int32, zero."""
    pid = tl.program_id(0)
    steps = tl.cdiv(K, BLOCK_K)
    total = (tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N) * steps).to(tl.int64)
    programs = tl.num_programs(0)
    start = (pid * total // programs).to(tl.int32)
    end = ((pid + 1) * total // programs).to(tl.int32)
    inner_rows = tl.arange(0, BLOCK_M)
    inner_cols = tl.arange(0, BLOCK_N)
    inner = inner_rows[:, None] * BLOCK_N + inner_cols[None, :]
    # From the last tile to the first: what others wait for is done first.
    while end > start:
        tile = (end - 1) // steps
        tile_start = tile * steps
        begin = max(start, tile_start)
        tile_m, tile_n = tile_place(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        acc = multiply(a_ptr, b_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, tile_m, tile_n,
                       begin - tile_start, end - tile_start, BLOCK_M, BLOCK_N, BLOCK_K)
        if end < tile_start + steps:
            tl.store(work_ptr + pid.to(tl.int64) * BLOCK_M * BLOCK_N + inner, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flag_ptr + pid, 1)
        else:
            helper = pid - 1
            missing = begin
            while missing > tile_start:
                while tl.atomic_cas(flag_ptr + helper, 1, 1) == 0:
                    pass
                acc += tl.load(work_ptr + helper.to(tl.int64) * BLOCK_M * BLOCK_N + inner)
                missing = max(tile_start, (helper * total // programs).to(tl.int32))
                helper -= 1
            rows = tile_m * BLOCK_M + inner_rows
            cols = tile_n * BLOCK_N + inner_cols
            tl.store(c_ptr + stride_cm * rows[:, None] + stride_cn * cols[None, :], acc.to(c_ptr.dtype.element_ty),
                     mask=(rows[:, None] < M) & (cols[None, :] < N))
        end = begin
