# test: diag arg=x=*f32 arg=n=i32 const=N=4
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, N: tl.constexpr):
    a = 1
    a: tl.constexpr = 2
    b: tl.constexpr = 3
    b: tl.constexpr = 4
    for i in range(n):
        N = N + 1
    tl.store(x, N)
