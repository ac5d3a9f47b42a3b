# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def inner(v):
    return v + mistake


@triton.jit
def outer(v):
    return inner(v) * 2


@triton.jit
def kernel(x, n):
    for i in range(2):
        tl.store(x, outer(n))
        tl.store(x, outer(n))
