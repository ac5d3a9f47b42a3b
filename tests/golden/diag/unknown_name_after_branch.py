# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        v = tl.load(x)
    tl.store(x, v)
    for i in range(n):
        w = i
    tl.store(x, w)
