# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl

@triton.jit
def helper(N: tl.constexpr):
    return N


@triton.jit
def kernel(x, n):
    a = tl.arange(0, n)
    BLOCK = 64
    b = tl.zeros((BLOCK,), tl.float32)
    c: tl.constexpr = n + 1
    d = f"{n}"
    e = helper(n)
    f = tl.sum(tl.arange(0, 8), axis=n)
    tl.static_assert(n > 0)
    for i in tl.static_range(n):
        pass
    g = tl.constexpr(n)
# --- expected
# not_constexpr.py:11:22: error: argument 'end' of 'tl.arange' must be a compile-time integer, but is int32, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       a = tl.arange(0, n)
#                        ^
# not_constexpr.py:13:18: error: argument 'shape' of 'tl.zeros' must be made of compile-time integers, but is int32, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       b = tl.zeros((BLOCK,), tl.float32)
#                    ^~~~~~~~
# not_constexpr.py:14:23: error: 'c' is declared constexpr, but its value is int32, known at run time only [not-constexpr]
#       c: tl.constexpr = n + 1
#                         ^~~~~
# not_constexpr.py:15:12: error: an f-string takes compile-time values only, but this is int32 [not-constexpr]
#       d = f"{n}"
#              ^
# not_constexpr.py:16:16: error: parameter 'N' of 'helper' is constexpr, but its argument is int32, a run-time value [not-constexpr]
#       e = helper(n)
#                  ^
# not_constexpr.py:17:38: error: argument 'axis' of 'tl.sum' must be a compile-time integer, but is int32, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       f = tl.sum(tl.arange(0, 8), axis=n)
#                                        ^
# not_constexpr.py:18:22: error: argument 'cond' of 'tl.static_assert' must be known at compile time, but is int1, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       tl.static_assert(n > 0)
#                        ^~~~~
# not_constexpr.py:19:30: error: tl.static_range needs compile-time integers, but this is int32 [not-constexpr]
#       for i in tl.static_range(n):
#                                ^
# not_constexpr.py:21:22: error: argument 'value' of 'tl.constexpr' must be a compile-time value, but is int32, a run-time value; declare 'name: tl.constexpr' to keep a constant [not-constexpr]
#       g = tl.constexpr(n)
#                        ^
