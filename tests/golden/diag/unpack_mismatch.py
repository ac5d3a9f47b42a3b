# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a, b = (1, 2, 3)
    c, d = n
    tl.store(x, a + c)
# --- expected
# unpack_mismatch.py:7:12: error: a tuple of 3 cannot be unpacked into 2 names [unpack-mismatch]
#       a, b = (1, 2, 3)
#              ^~~~~~~~~
# unpack_mismatch.py:8:12: error: int32 cannot be unpacked into 2 names [unpack-mismatch]
#       c, d = n
#              ^
