# test: diag arg=x=*f32 arg=z=i32 arg=BLOCK=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    tl.store(x, n)
