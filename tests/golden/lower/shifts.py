# test: lower arg=a=*i32 arg=b=*u32 arg=o=*i32
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, o):
    i = tl.load(a)
    u = tl.load(b)
    tl.store(o, i >> 3)
    tl.store(o, u >> 3)
    tl.store(o, i >> u)
    tl.store(o, u >> i)
    tl.store(o, 1 << i)
