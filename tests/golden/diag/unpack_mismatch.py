# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a, b = (1, 2, 3)
    c, d = n
    tl.store(x, a + c)
