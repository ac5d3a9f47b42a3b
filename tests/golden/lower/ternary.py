# test: lower arg=x=*f32 arg=n=i32 const=WIDE=True
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, WIDE: tl.constexpr):
    size = 8 if WIDE else undefined
    a = tl.load(x)
    b = tl.load(x + 1) if n > 0 else a
    tl.store(x, b * (2 if n > 1 else 3) + size)
