# test: lower arg=x=*f32 arg=i=*i32 arg=o=*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, o):
    f = tl.load(x + tl.arange(0, 8))
    n = tl.load(i + tl.arange(0, 8))
    top, at = tl.max(f, axis=0, return_indices=True)
    tl.store(o, at + top)
    tl.store(o, tl.argmin(n, 0))
