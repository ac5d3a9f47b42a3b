# test: diag arg=x=*f32 const=N=3
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, f"N is {N}, but must be even.")
    tl.static_assert(N > 5)
    assert N == 4, "four"
# --- expected
# static_assert.py:7:22: error: static assertion failed: N is 3, but must be even [static-assert]
#       tl.static_assert(N % 2 == 0, f"N is {N}, but must be even.")
#                        ^~~~~~~~~~
# static_assert.py:8:22: error: static assertion failed [static-assert]
#       tl.static_assert(N > 5)
#                        ^~~~~
# static_assert.py:9:12: error: static assertion failed: four [static-assert]
#       assert N == 4, "four"
#              ^~~~~~
