# test: diag arg=x=*f32 const=N=100
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    a = tl.arange(0, N)
    b = tl.zeros((16, 3), tl.float32)
    c = tl.full((0,), 1.0, tl.float32)
