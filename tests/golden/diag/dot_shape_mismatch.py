# test: diag arg=h=*f16
import triton
import triton.language as tl


@triton.jit
def kernel(h):
    i = tl.arange(0, 16)
    j = tl.arange(0, 32)
    a = tl.load(h + i[:, None] * 16 + i[None, :])
    b = tl.load(h + j[:, None] * 16 + i[None, :])
    c = tl.dot(a, b)
    d = tl.dot(a, i)
    e = tl.dot(i.to(tl.float16), i.to(tl.float16))
    f = tl.dot(a, a, acc=tl.zeros((16, 32), tl.float32))
    k = tl.arange(0, 8)
    g = tl.dot(tl.load(h + i[:, None] * 8 + k[None, :]), tl.load(h + k[:, None] * 16 + i[None, :]))
    m = tl.dot(a, 2.0)
# --- expected
# dot_shape_mismatch.py:11:9: error: tl.dot of float16[16, 16] and float16[32, 16]: the columns of the first, 16, and rows of the second, 32, differ [dot-shape-mismatch]
#       c = tl.dot(a, b)
#           ^~~~~~~~~~~~
# dot_shape_mismatch.py:12:19: error: tl.dot multiplies int8, uint8, fp8, float16, bfloat16, float32 and float64, but this is int32[16] [type-mismatch]
#       d = tl.dot(a, i)
#                     ^
# dot_shape_mismatch.py:13:9: error: tl.dot multiplies two tiles of 2 (or 3) dimensions, but they are float16[16] and float16[16] [dot-shape-mismatch]
#       e = tl.dot(i.to(tl.float16), i.to(tl.float16))
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_shape_mismatch.py:14:26: error: tl.dot adds to float32[16, 16], but acc is float32[16, 32] [dot-shape-mismatch]
#       f = tl.dot(a, a, acc=tl.zeros((16, 32), tl.float32))
#                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_shape_mismatch.py:16:9: error: tl.dot of float16 needs at least 16 columns in its first operand, but it is float16[16, 8] [dot-shape-mismatch]
#       g = tl.dot(tl.load(h + i[:, None] * 8 + k[None, :]), tl.load(h + k[:, None] * 16 + i[None, :]))
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_shape_mismatch.py:17:19: error: tl.dot multiplies tiles, but this is float32 [dot-shape-mismatch]
#       m = tl.dot(a, 2.0)
#                     ^~~
