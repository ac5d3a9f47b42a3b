# test: lower arg=o=*f64
import triton
import triton.language as tl


@triton.jit
def kernel(o):
    small = 1
    unsigned = 3000000000
    wide = 5000000000
    top = 0xFFFFFFFFFFFFFFFF
    single = 1.5
    tiny = 1e-40
    huge = 1e300
    infinite = float("inf")
    flag = True
    tl.store(o, small)
    tl.store(o, unsigned)
    tl.store(o, wide)
    tl.store(o, top)
    tl.store(o, single)
    tl.store(o, tiny)
    tl.store(o, huge)
    tl.store(o, -infinite)
    tl.store(o, flag)
