# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    rows = tl.arange(0, 4)
    cols = tl.arange(0, 8)
    grid = rows[:, None] * 8 + cols[None, :]
    padded = grid + cols
    values = tl.load(x + padded, mask=cols < 5, other=-1)
    tl.store(o + grid, values, mask=rows[:, None] < 3)
    tl.store(o + grid, 1)
