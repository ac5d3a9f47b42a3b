# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = 0
    if n > 0:
        a = tl.load(x)
        b = tl.arange(0, 8)
    else:
        b = tl.arange(0, 16)
    c = 1 if n > 1 else 2.0
    tl.store(x, a)
