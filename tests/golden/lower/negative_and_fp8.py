# test: lower arg=q=*fp8e4nv arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(q, o):
    x = tl.load(q)
    tl.store(o, -x)
    tl.store(o, x + x)
    tl.store(o, x > 1.0)
