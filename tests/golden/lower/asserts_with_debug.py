# test: lower debug=1 arg=x=*f32 arg=n=i32 const=N=4
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, N: tl.constexpr):
    assert N % 4 == 0, "N is a multiple of 4"
    tl.static_assert(N > 0, f"N is {N}")
    tl.device_assert(n > 0, "n is positive")
    assert n < 100
    tl.store(x, n)
