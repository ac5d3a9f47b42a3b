"""RMS normalisation over the last dimension: y = x * rstd * w, rstd = 1 / sqrt(mean(x * x) + eps).

The row stays in registers (BLOCK >= cols). Backward: each program takes every num_programs-th row, gives dx
and keeps its share of dw in registers, one row of dw_part a program; `rms_norm_backward_dw` sums those.
"""
import triton
import triton.language as tl


@triton.jit
def rms_norm_forward(x_ptr, y_ptr, w_ptr, rstd_ptr, stride, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = row.to(tl.int64) * stride
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
    rstd = 1 / tl.sqrt(tl.sum(x * x, axis=0) / cols + eps)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = x * rstd * w
    tl.store(y_ptr + base + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rms_norm_backward(
    dx_ptr, dy_ptr, x_ptr, w_ptr, rstd_ptr, dw_part_ptr, stride, rows, cols, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        base = tl.cast(row, tl.int64) * stride
        x = tl.load(x_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = x * rstd
        dw += dy * x_hat
        # Again for each row, out of the cache: in registers it would leave no room for wide rows.
        w_dy = dy * tl.load(w_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        mean = tl.sum(x_hat * w_dy, axis=0) / cols
        dx = (w_dy - x_hat * mean) * rstd
        tl.store(dx_ptr + base + offsets, dx.to(dx_ptr.dtype.element_ty), mask=mask)
    tl.store(dw_part_ptr + program * cols + offsets, dw, mask=mask)


@triton.jit
def rms_norm_backward_dw(dw_part_ptr, dw_ptr, parts, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    col = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, parts, BLOCK_M):
        part = start + tl.arange(0, BLOCK_M)
        mask = (part[:, None] < parts) & (col[None, :] < cols)
        dw += tl.load(dw_part_ptr + part[:, None] * cols + col[None, :], mask=mask, other=0.0)
    tl.store(dw_ptr + col, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=col < cols)
