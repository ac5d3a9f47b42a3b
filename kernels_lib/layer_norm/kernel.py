"""Layer normalisation over the last dimension, forward and backward.

Backward runs in two steps. `layer_norm_backward` gives dx and one partial row of dw and db a program; or
`layer_norm_backward_dx`, one program a row, adds each row's share into one of GROUPS partial rows (a lock a
partial row keeps the read-modify-write whole). `layer_norm_backward_dwdb` sums the partial rows.
"""
import triton
import triton.language as tl


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < cols, other=0.0).to(tl.float32)
        centred = tl.where(offsets < cols, x - mean, 0.0)
        squares += centred * centred
    variance = tl.sum(squares, axis=0) / cols
    rstd = 1 / tl.sqrt(variance + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < cols
        w = tl.load(w_ptr + offsets, mask=mask).to(tl.float32)
        b = tl.load(b_ptr + offsets, mask=mask).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w + b
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_forward_row(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, cols, eps, BLOCK: tl.constexpr):
    """The same with the row in registers (BLOCK >= cols): x is read once."""
    row = tl.program_id(0)
    base = row.to(tl.int64) * stride
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = centred * rstd * w + b
    tl.store(y_ptr + base + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_backward_dx(
    dx_ptr, dy_ptr, dw_part_ptr, db_part_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, cols,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    base = row.to(tl.int64) * stride
    x = tl.load(x_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)

    x_hat = tl.where(mask, (x - mean) * rstd, 0.0)
    w_dy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(x_hat * w_dy, axis=0) / cols
    c2 = tl.sum(w_dy, axis=0) / cols
    dx = (w_dy - (x_hat * c1 + c2)) * rstd
    tl.store(dx_ptr + base + offsets, dx.to(dx_ptr.dtype.element_ty), mask=mask)

    group = row % GROUPS
    count_ptr = lock_ptr + GROUPS + group
    dw_ptrs = dw_part_ptr + group * cols + offsets
    db_ptrs = db_part_ptr + group * cols + offsets
    dw = dy * x_hat
    db = dy
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)


@triton.jit
def layer_norm_backward(
    dx_ptr, dy_ptr, dw_part_ptr, db_part_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, stride, rows, cols, BLOCK: tl.constexpr
):
    """dx, and dw and db summed over every num_programs-th row, in registers: one partial row a program."""
    program = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        base = tl.cast(row, tl.int64) * stride
        x = tl.load(x_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        x_hat = (x - mean) * rstd  # where masked off, dy is 0
        dw += dy * x_hat
        db += dy
        # Again for each row, out of the cache: in registers it would leave no room for wide rows.
        w_dy = dy * tl.load(w_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        c1 = tl.sum(x_hat * w_dy, axis=0) / cols
        c2 = tl.sum(w_dy, axis=0) / cols
        dx = (w_dy - (x_hat * c1 + c2)) * rstd
        tl.store(dx_ptr + base + offsets, dx.to(dx_ptr.dtype.element_ty), mask=mask)
    tl.store(dw_part_ptr + program * cols + offsets, dw, mask=mask)
    tl.store(db_part_ptr + program * cols + offsets, db, mask=mask)


@triton.jit
def layer_norm_backward_dwdb(
    dw_part_ptr, db_part_ptr, dw_ptr, db_ptr, groups, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    col = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, groups, BLOCK_M):
        row = start + tl.arange(0, BLOCK_M)
        mask = (row[:, None] < groups) & (col[None, :] < cols)
        offsets = row[:, None] * cols + col[None, :]
        dw += tl.load(dw_part_ptr + offsets, mask=mask, other=0.0)
        db += tl.load(db_part_ptr + offsets, mask=mask, other=0.0)
    tl.store(dw_ptr + col, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=col < cols)
    tl.store(db_ptr + col, tl.sum(db, axis=0).to(db_ptr.dtype.element_ty), mask=col < cols)
