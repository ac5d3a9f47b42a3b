# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x)
    pair = (a, n)
    if n > 3:
        a = a + 1.0
        both = 1
        pair = (a, n + 1)
    elif n:
        both = 2
        only = 7
        a = a * only
    else:
        both = 3
    u, v = pair
    tl.store(x, a + both + u + v)
