# test: diag arg=x=*f32 arg=z=i32 arg=BLOCK=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    tl.store(x, n)
# --- expected
# kernel_arguments.py:6:5: error: kernel 'kernel' has no parameter 'z' [unexpected-argument]
#   def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
#       ^~~~~~
# kernel_arguments.py:6:15: error: kernel 'kernel' needs a type for its parameter 'n' [missing-argument]
#   def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
#                 ^
# kernel_arguments.py:6:18: error: parameter 'BLOCK' is constexpr and needs a value, but was given the type int32 [not-constexpr]
#   def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
#                    ^~~~~
# kernel_arguments.py:6:39: error: kernel 'kernel' needs a constant for its parameter 'SIZE' [missing-argument]
#   def kernel(x, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
#                                         ^~~~
