# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, *rest):
    tl.store(x, 1)
# --- expected
# kernel_varargs.py:6:16: error: a kernel cannot take a variable number of arguments; name each parameter [unsupported-syntax]
#   def kernel(x, *rest):
#                  ^~~~
