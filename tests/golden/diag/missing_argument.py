# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def helper(a, b):
    return a + b


@triton.jit
def kernel(x):
    tl.store(x)
    helper(b=1)
    tl.arange(0)
# --- expected
# missing_argument.py:11:5: error: the call of 'tl.store' lacks its argument 'value' [missing-argument]
#       tl.store(x)
#       ^~~~~~~~~~~
# missing_argument.py:12:5: error: the call of 'helper' lacks its argument 'a' [missing-argument]
#       helper(b=1)
#       ^~~~~~~~~~~
# missing_argument.py:13:5: error: the call of 'tl.arange' lacks its argument 'end' [missing-argument]
#       tl.arange(0)
#       ^~~~~~~~~~~~
