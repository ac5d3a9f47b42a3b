# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        return n
    tl.store(x, 1.0)
# --- expected
# kernel_returns_value.py:8:16: error: a kernel cannot return a value; store it through a pointer [unsupported-syntax]
#           return n
#                  ^
