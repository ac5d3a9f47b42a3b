# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    t = (1, 2, n)
    a = t[3]
    b = t[n]
    c = t[0, 1]
    d = n[0]
    e = min()
    f = len(n)
