# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def combine(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit
def kernel(x, o):
    f = tl.load(x + tl.arange(0, 8))
    total, largest = tl.reduce((f, f * f), 0, combine)
    tl.store(o, total + largest)
