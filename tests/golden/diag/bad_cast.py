# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = n.to(tl.float16, bitcast=True)
    b = x.to(tl.float32)
    c = tl.load(x).to(tl.pointer_type(tl.float32))
# --- expected
# bad_cast.py:7:9: error: bitcast keeps the bits, but int32 has 32 and float16 has 16 [bad-cast]
#       a = n.to(tl.float16, bitcast=True)
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# bad_cast.py:8:9: error: pointer<float32> cannot be cast to float32; pointers convert to and from 64-bit integers [bad-cast]
#       b = x.to(tl.float32)
#           ^~~~~~~~~~~~~~~~
# bad_cast.py:9:9: error: float32 cannot be cast to pointer<float32>; pointers convert to and from 64-bit integers [bad-cast]
#       c = tl.load(x).to(tl.pointer_type(tl.float32))
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
