# test: lower arg=a=*i32 arg=b=*f32 arg=o=*f32 const=N=-7
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, o, N: tl.constexpr):
    i = tl.load(a)
    f = tl.load(b)
    tl.store(o, i // 4)
    tl.store(o, i % 4)
    tl.store(o, f % 2.0)
    tl.store(o, N // 2)
    tl.store(o, N % 4)
    tl.store(o, N / 2)
