# test: lower arg=x=*f16 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    h = tl.load(x)
    eps = 1e-5
    tl.store(o, h + 1e-5)
    tl.store(o, h + eps)
