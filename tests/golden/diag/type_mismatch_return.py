# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def pick(n, v):
    if n > 0:
        return v
    return n


@triton.jit
def kernel(x, n):
    tl.store(x, pick(n, tl.load(x)))
# --- expected
# type_mismatch_return.py:7:9: error: 'pick' returns float32 here and int32 elsewhere; all returns must have one type [type-mismatch-return]
#           return v
#           ^~~~~~~~
# type_mismatch_return.py:8:5: note: the other return gives int32
#       return n
#       ^~~~~~~~
# type_mismatch_return.py:13:17: note: in 'pick', called from here
#       tl.store(x, pick(n, tl.load(x)))
#                   ^~~~~~~~~~~~~~~~~~~
