# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@triton.jit
def kernel(x, n):
    tl.store(x, factorial(n))
# --- expected
# recursion.py:8:16: error: 'factorial' calls itself; calls are expanded in place, so recursion cannot end [recursion]
#       return n * factorial(n - 1)
#                  ^~~~~~~~~~~~~~~~
# recursion.py:13:17: note: in 'factorial', called from here
#       tl.store(x, factorial(n))
#                   ^~~~~~~~~~~~
