# test: diag arg=x=*f32 arg=i=*i32 arg=n=i32 arg=u=u32
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, n, u):
    a = n // u
    b = n % u
    c = tl.load(x, mask=n)
    d = not n
    e = n and True
    f = tl.where(n > 0, x, i)
    for k in range(0.5, n):
        pass
    g = tl.join(tl.arange(0, 4), tl.zeros((4,), tl.float32))
# --- expected
# type_mismatch.py:7:9: error: '//' of int32 and uint32 mixes signed and unsigned integers; cast one of them [type-mismatch]
#       a = n // u
#           ^~~~~~
# type_mismatch.py:8:9: error: '%' of int32 and uint32 mixes signed and unsigned integers; cast one of them [type-mismatch]
#       b = n % u
#           ^~~~~
# type_mismatch.py:9:25: error: a mask must be int1, but this is int32; compare with 0 to make one [type-mismatch]
#       c = tl.load(x, mask=n)
#                           ^
# type_mismatch.py:10:9: error: 'not' needs int1, but its operand is int32; compare with 0 [type-mismatch]
#       d = not n
#           ^~~~~
# type_mismatch.py:11:9: error: 'and' needs int1 operands, but this is int32; compare with 0, or use '&' for bits [type-mismatch]
#       e = n and True
#           ^
# type_mismatch.py:12:9: error: tl.where chooses between two pointers of one type, but they are pointer<float32> and pointer<int32> [type-mismatch]
#       f = tl.where(n > 0, x, i)
#           ^~~~~~~~~~~~~~~~~~~~~
# type_mismatch.py:13:20: error: the bounds of a loop are scalar integers, but this is float32 [type-mismatch]
#       for k in range(0.5, n):
#                      ^~~
# type_mismatch.py:15:9: error: 'tl.join' needs operands of one dtype, but they are int32[4] and float32[4] [type-mismatch]
#       g = tl.join(tl.arange(0, 4), tl.zeros((4,), tl.float32))
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
