# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    a = tl.arange(0, 2048)
    b = a[:, None] + a[None, :]
    c = tl.zeros((4194304,), tl.float32)
    d = tl.zeros((2, 2, 2, 2, 2, 2), tl.float32)
# --- expected
# tile_too_large.py:8:9: error: a tile of shape [2048, 2048] has more than 2^20 = 1048576 elements [tile-too-large]
#       b = a[:, None] + a[None, :]
#           ^~~~~~~~~~~~~~~~~~~~~~~
# tile_too_large.py:9:18: error: a tile of shape [4194304] has more than 2^20 = 1048576 elements [tile-too-large]
#       c = tl.zeros((4194304,), tl.float32)
#                    ^~~~~~~~~~
# tile_too_large.py:10:18: error: a tile of shape [2, 2, 2, 2, 2, 2] has 6 dimensions, at most 5 are allowed [tile-too-large]
#       d = tl.zeros((2, 2, 2, 2, 2, 2), tl.float32)
#                    ^~~~~~~~~~~~~~~~~~
