# test: diag arg=x=*u8 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    b = tl.load(x)
    a = b + 256
    c = b - (-1)
    d = b + -1
    e = n + 5000000000
    f = 0xFFFFFFFFFFFFFFFF + 1
    g = tl.full((4,), 300, tl.uint8)
    h = 2 ** 70
# --- expected
# constant_overflow.py:8:13: error: 256 does not fit in uint8, which holds 0 to 2^8-1 [constant-overflow]
#       a = b + 256
#               ^~~
# constant_overflow.py:9:13: error: -1 does not fit in uint8, which holds 0 to 2^8-1 [constant-overflow]
#       c = b - (-1)
#               ^~~~
# constant_overflow.py:10:13: error: -1 does not fit in uint8, which holds 0 to 2^8-1 [constant-overflow]
#       d = b + -1
#               ^~
# constant_overflow.py:11:13: error: 5000000000 does not fit in int32, which holds -2^31 to 2^31-1 [constant-overflow]
#       e = n + 5000000000
#               ^~~~~~~~~~
# constant_overflow.py:12:9: error: the integer result does not fit in 64 bits (-2^63 to 2^64-1) [constant-overflow]
#       f = 0xFFFFFFFFFFFFFFFF + 1
#           ^~~~~~~~~~~~~~~~~~~~~~
# constant_overflow.py:13:23: error: 300 does not fit in uint8, which holds 0 to 2^8-1 [constant-overflow]
#       g = tl.full((4,), 300, tl.uint8)
#                         ^~~
# constant_overflow.py:14:9: error: the integer result does not fit in 64 bits (-2^63 to 2^64-1) [constant-overflow]
#       h = 2 ** 70
#           ^~~~~~~
