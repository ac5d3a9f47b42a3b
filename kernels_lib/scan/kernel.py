"""Running sums along rows, one program a row: `cumsum` holds the row in registers (BLOCK >= cols), `cumsum_wide`
carries the sum from block to block. `linear_recurrence` is y[i] = a[i] * y[i-1] + b[i], a scan with a function that
does not commute."""
import triton
import triton.language as tl


@triton.jit
def cumsum(x_ptr, y_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    y = tl.cumsum(x, axis=0)
    tl.store(y_ptr + row * stride + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def cumsum_wide(x_ptr, y_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    before = tl.zeros([], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
        y = before + tl.cumsum(x, axis=0)
        before += tl.sum(x, axis=0)
        tl.store(y_ptr + row * stride + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def linear_recurrence(a_ptr, b_ptr, y_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    a = tl.load(a_ptr + row * stride + offsets, mask=mask, other=1.0).to(tl.float32)
    b = tl.load(b_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    _, y = tl.associative_scan((a, b), 0, compose)
    tl.store(y_ptr + row * stride + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)
