# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def helper(N: tl.constexpr):
    return N


@triton.jit
def kernel(x, n):
    a = tl.arange(0, n)
    BLOCK = 64
    b = tl.zeros((BLOCK,), tl.float32)
    c: tl.constexpr = n + 1
    d = f"{n}"
    e = helper(n)
    f = tl.sum(tl.arange(0, 8), axis=n)
    tl.static_assert(n > 0)
    for i in tl.static_range(n):
        pass
    g = tl.constexpr(n)
