# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def inner(v):
    return v + mistake


@triton.jit
def outer(v):
    return inner(v) * 2


@triton.jit
def kernel(x, n):
    for i in range(2):
        tl.store(x, outer(n))
        tl.store(x, outer(n))
# --- expected
# called_from.py:6:16: error: 'mistake' is not defined [unknown-name]
#       return v + mistake
#                  ^~~~~~~
# called_from.py:11:12: note: in 'inner', called from here
#       return inner(v) * 2
#              ^~~~~~~~
# called_from.py:17:21: note: in 'outer', called from here
#           tl.store(x, outer(n))
#                       ^~~~~~~~
