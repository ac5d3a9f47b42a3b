# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def helper(a, b):
    return a + b


@triton.jit
def kernel(x):
    tl.store(x)
    helper(b=1)
    tl.arange(0)
