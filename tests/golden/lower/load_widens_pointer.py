# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    cols = tl.arange(0, 8)
    mask = (tl.arange(0, 4)[:, None] < 3) & (cols < 7)
    values = tl.load(x + cols[None, :], mask=mask, other=0)
    tl.store(o, tl.sum(values))
