# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, *rest):
    tl.store(x, 1)
