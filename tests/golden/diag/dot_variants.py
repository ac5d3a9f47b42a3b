# test: diag arg=a=*i8 arg=h=*f16 arg=f=*fp8e5
import triton
import triton.language as tl
from triton.language.extra import tilewright


@triton.jit
def kernel(a, h, f):
    i = tl.arange(0, 32)
    at = i[:, None] * 32 + i[None, :]
    x = tl.load(a + at)
    y = tl.load(h + at)
    z = tl.load(f + at)
    b = tilewright.dot_int4(x, y)
    c = tilewright.dot_int4(x, x, y)
    d = tilewright.dot_int4(tl.arange(0, 4), x)
    e = tl.dot(z, z, max_num_imprecise_acc=64)
    k = tl.arange(0, 64)
    w = tl.load(h + k[:, None] * 32 + i[None, :])
    g = tilewright.dot_sparse(y, x, w)
    r = tilewright.dot_sparse(y, y, w)
    s = tilewright.dot_sparse(y, x, y)
    u = x.to(tl.uint8, bitcast=True)
    j = tl.dot_scaled(u, u, "e2m1", u, None, "e2m1")
    j = tl.dot_scaled(u, u, "e2m1", u, None, "e4m3")
    j = tl.dot_scaled(x, x, "e2m1", x, None, "int8")
# --- expected
# dot_variants.py:13:32: error: dot_int4 multiplies tiles of int8 or uint8 that hold two 4-bit integers each, but this is float16[32, 32] [type-mismatch]
#       b = tilewright.dot_int4(x, y)
#                                  ^
# dot_variants.py:14:35: error: tl.dot adds to int32[32, 32], but acc is float16[32, 32] [type-mismatch]
#       c = tilewright.dot_int4(x, x, y)
#                                     ^
# dot_variants.py:15:29: error: dot_int4 multiplies tiles of int8 or uint8 that hold two 4-bit integers each, but this is int32[4] [type-mismatch]
#       d = tilewright.dot_int4(tl.arange(0, 4), x)
#                               ^~~~~~~~~~~~~~~
# dot_variants.py:16:44: error: max_num_imprecise_acc is 64, but this dot sums over 32 [bad-argument]
#       e = tl.dot(z, z, max_num_imprecise_acc=64)
#                                              ^~
# dot_variants.py:19:34: error: the metadata of dot_sparse has 2 bits for each value of float16[32, 32], but this is int8[32, 32] [dot-shape-mismatch]
#       g = tilewright.dot_sparse(y, x, w)
#                                    ^
# dot_variants.py:20:34: error: the metadata of dot_sparse is a tile of integers of 8, 16 or 32 bits, but this is float16[32, 32] [type-mismatch]
#       r = tilewright.dot_sparse(y, y, w)
#                                    ^
# dot_variants.py:21:9: error: tl.dot of float16[32, 64] and float16[32, 32]: the columns of the first, 64, and rows of the second, 32, differ [dot-shape-mismatch]
#       s = tilewright.dot_sparse(y, x, y)
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_variants.py:23:26: error: dot_scaled: one scale (uint8) goes with 32 values along K, here uint8[32, 2], but this is uint8[32, 32]; where both operands are e2m1, float8e4nv scales go with 16 [dot-shape-mismatch]
#       j = tl.dot_scaled(u, u, "e2m1", u, None, "e2m1")
#                            ^
# dot_variants.py:24:9: error: dot_scaled of uint8[32, 32] and float8e4nv[32, 32]: the first has 64 values along K, the second 32 [dot-shape-mismatch]
#       j = tl.dot_scaled(u, u, "e2m1", u, None, "e4m3")
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_variants.py:25:9: error: static assertion failed: dot_scaled: one scale goes with 32 values along K [static-assert]
#       j = tl.dot_scaled(x, x, "e2m1", x, None, "int8")
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_variants.py:25:9: error: float32[32, 32, 32] has 32768 elements and cannot become [32, 64] with 2048 [shape-mismatch]
#       j = tl.dot_scaled(x, x, "e2m1", x, None, "int8")
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# dot_variants.py:25:9: error: static assertion failed: dot_scaled: formats are e2m1, e4m3, e5m2, bf16 and fp16 [static-assert]
#       j = tl.dot_scaled(x, x, "e2m1", x, None, "int8")
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
