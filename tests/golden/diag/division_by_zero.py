# test: diag arg=x=*f32 const=N=0
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    a = 1 // N
    b = 1 % N
    c = 1 / N
# --- expected
# division_by_zero.py:7:9: error: '//' by zero in a constant expression [division-by-zero]
#       a = 1 // N
#           ^~~~~~
# division_by_zero.py:8:9: error: '%' by zero in a constant expression [division-by-zero]
#       b = 1 % N
#           ^~~~~
# division_by_zero.py:9:9: error: '/' by zero in a constant expression [division-by-zero]
#       c = 1 / N
#           ^~~~~
