"""Row-wise softmax; one program a row. `softmax` holds the row in registers (BLOCK >= cols; best up to 32 elements
a thread, that is 32768 columns with 32 warps), `softmax_wide` takes rows of any width."""
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, x_stride, y_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    denominator = tl.sum(numerator, axis=0)
    y = numerator / denominator
    tl.store(y_ptr + row * y_stride + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_wide(x_ptr, y_ptr, x_stride, y_stride, cols, STEPS: tl.constexpr, LANES: tl.constexpr):
    """Rows too wide for the registers: maximum and sum in one sweep (each column of a LANES-wide strip has
    its own, rescaled once in STEPS elements), then the quotients, from the last columns back to the first,
    since the last ones are still in the cache."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    y_ptr += row * y_stride
    # Below every element, and finite: the difference of two of them is 0.
    top = tl.full([LANES], -3.0e38, dtype=tl.float32)
    total = tl.zeros([LANES], dtype=tl.float32)
    within = tl.arange(0, STEPS)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    steps = tl.cdiv(cols, STEPS * LANES)
    for step in range(0, steps):
        offsets = step * (STEPS * LANES) + within
        x = tl.load(x_ptr + offsets, mask=offsets < cols, other=-float("inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top[None, :]), axis=0)
        top = new_top
    row_top = tl.max(top, axis=0)
    denominator = tl.sum(total * tl.exp(top - row_top), axis=0)
    for step in range(0, steps):
        offsets = (steps - 1 - step) * (STEPS * LANES) + within
        mask = offsets < cols
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - row_top) / denominator
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)
