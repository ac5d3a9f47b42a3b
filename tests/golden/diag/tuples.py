# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    t = (1, 2, n)
    a = t[3]
    b = t[n]
    c = t[0, 1]
    d = n[0]
    e = min()
    f = len(n)
    g = t[::0]
# --- expected
# tuples.py:8:11: error: index 3 is outside of a tuple of 3 [bad-operand]
#       a = t[3]
#             ^
# tuples.py:9:11: error: a tuple is indexed by compile-time integers, not by int32 [not-constexpr]
#       b = t[n]
#             ^
# tuples.py:10:9: error: a tuple takes one index [bad-operand]
#       c = t[0, 1]
#           ^~~~~~~
# tuples.py:11:11: error: a tensor is indexed by ':' and None only; use a load through pointers, or tl.reshape and tl.split, to take elements [unsupported-syntax]
#       d = n[0]
#             ^
# tuples.py:12:9: error: 'min' needs at least one argument [missing-argument]
#       e = min()
#           ^~~~~
# tuples.py:13:13: error: argument 'x' of 'len' must be a tuple or a tile, but is int32, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       f = len(n)
#               ^
# tuples.py:14:13: error: the step of a slice is 0 [bad-operand]
#       g = t[::0]
#               ^
