# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def pick(n, v):
    if n > 0:
        return v
    return n


@triton.jit
def kernel(x, n):
    tl.store(x, pick(n, tl.load(x)))
