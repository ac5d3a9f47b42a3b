# test: diag arg=x=*f32 const=N=100
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    a = tl.arange(0, N)
    b = tl.zeros((16, 3), tl.float32)
    c = tl.full((0,), 1.0, tl.float32)
# --- expected
# not_power_of_two.py:7:9: error: extent 100 of a tile is not a power of two; the next one is 128 (mask the rest) [not-power-of-two]
#       a = tl.arange(0, N)
#           ^~~~~~~~~~~~~~~
# not_power_of_two.py:8:18: error: extent 3 of a tile is not a power of two; the next one is 4 (mask the rest) [not-power-of-two]
#       b = tl.zeros((16, 3), tl.float32)
#                    ^~~~~~~
# not_power_of_two.py:9:17: error: extent 0 of a tile is not a power of two [not-power-of-two]
#       c = tl.full((0,), 1.0, tl.float32)
#                   ^~~~
