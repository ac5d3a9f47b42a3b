# test: lower arg=x=*f32 const=N=3
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    total = 0.0
    for i in tl.static_range(N):
        scale: tl.constexpr = 2**i
        if i != 1:
            total += tl.load(x + i) * scale
    for j in tl.static_range(4, 0, -2):
        total += j
    tl.store(x, total)
