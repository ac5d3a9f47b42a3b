# test: diag arg=x=*f32 const=N=0
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    a = 1 // N
    b = 1 % N
    c = 1 / N
