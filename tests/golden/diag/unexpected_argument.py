# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def helper(a, b=2):
    return a + b


@triton.jit
def kernel(x):
    v = tl.load(x, maks=True)
    w = tl.load(x, None, None, (), "", "", "", False, 1)
    u = tl.load(x, pointer=x)
    helper(1, 2, 3)
    helper(1, c=2)
