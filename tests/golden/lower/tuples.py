# test: lower arg=x=*f32 arg=n=i32 const=SHAPE=8
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, SHAPE: tl.constexpr):
    shape: tl.constexpr = (SHAPE, 4) + (2,)
    t = tl.zeros(shape[:-1], tl.float32)
    (a, b), c = (n, 2), t.shape[0]
    first, second = (1,) if False else (2, 3)[0:1] + (4,)
    tl.store(x, tl.sum(t) + a + b + c + len(shape) + first + second)
