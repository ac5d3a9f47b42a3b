# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x)
    v(1)
    tl.float32(1.0)
