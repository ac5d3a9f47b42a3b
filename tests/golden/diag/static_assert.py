# test: diag arg=x=*f32 const=N=3
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, f"N is {N}, but must be even.")
    tl.static_assert(N > 5)
    assert N == 4, "four"
