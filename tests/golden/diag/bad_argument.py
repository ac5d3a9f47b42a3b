# test: diag arg=x=*f32 arg=i=*i8 arg=h=*f16
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, h):
    a = tl.program_id(3)
    b = tl.arange(8, 4)
    c = tl.load(3)
    d = tl.load(x, other=1.0)
    e = tl.load(x, cache_modifier=".xx")
    tl.store(x, 1.0, eviction_policy="evict_never")
    tl.atomic_add(i, 1)
    tl.atomic_max(h, 1.0)
    tl.atomic_add(x, 1.0, sem="strong")
    tl.load(x, boundary_check=(0,))
    f = tl.zeros((4,), 3)
    g = tl.multiple_of(tl.program_id(0), 0)
    for k in range(0, 8, 0):
        pass
    m = tl.maximum(1.0, 2.0, propagate_nan="SOME")
    n = tl.cast(1.5, tl.float16, fp_downcast_rounding="up")
# --- expected
# bad_argument.py:7:23: error: a grid has axes 0, 1 and 2, not 3 [bad-argument]
#       a = tl.program_id(3)
#                         ^
# bad_argument.py:8:9: error: tl.arange needs start < end, but start is 8 and end is 4 [bad-argument]
#       b = tl.arange(8, 4)
#           ^~~~~~~~~~~~~~~
# bad_argument.py:9:17: error: 'tl.load' needs a pointer or a tile of pointers, but this is the constant 3 [bad-argument]
#       c = tl.load(3)
#                   ^
# bad_argument.py:10:26: error: 'other' replaces masked-off elements and needs a mask [bad-argument]
#       d = tl.load(x, other=1.0)
#                            ^~~
# bad_argument.py:11:35: error: '.xx' is no cache_modifier of 'tl.load'; it takes '.ca', '.cg', '.cv', '.cs' [bad-argument]
#       e = tl.load(x, cache_modifier=".xx")
#                                     ^~~~~
# bad_argument.py:12:38: error: 'evict_never' is no eviction_policy of 'tl.store'; it takes 'evict_first', 'evict_last', 'evict_normal' [bad-argument]
#       tl.store(x, 1.0, eviction_policy="evict_never")
#                                        ^~~~~~~~~~~~~
# bad_argument.py:13:19: error: 'tl.atomic_add' does not work on int8; integers of 32 and 64 bits always do [bad-argument]
#       tl.atomic_add(i, 1)
#                     ^
# bad_argument.py:14:19: error: 'tl.atomic_max' does not work on float16; integers of 32 and 64 bits always do [bad-argument]
#       tl.atomic_max(h, 1.0)
#                     ^
# bad_argument.py:15:31: error: 'strong' is no sem of 'tl.atomic_add'; it takes 'relaxed', 'acquire', 'release', 'acq_rel' [bad-argument]
#       tl.atomic_add(x, 1.0, sem="strong")
#                                 ^~~~~~~~
# bad_argument.py:16:31: error: boundary_check works on block pointers only; use mask here [bad-argument]
#       tl.load(x, boundary_check=(0,))
#                                 ^~~~
# bad_argument.py:17:24: error: argument 'dtype' of 'tl.zeros' must be a dtype such as tl.float32, but is the constant 3 [bad-argument]
#       f = tl.zeros((4,), 3)
#                          ^
# bad_argument.py:18:42: error: 'tl.multiple_of' needs positive values, not 0 [bad-argument]
#       g = tl.multiple_of(tl.program_id(0), 0)
#                                            ^
# bad_argument.py:19:26: error: the step of a loop cannot be 0 [bad-argument]
#       for k in range(0, 8, 0):
#                            ^
# bad_argument.py:21:44: error: propagate_nan is tl.PropagateNan.NONE or tl.PropagateNan.ALL, not 'SOME' [bad-argument]
#       m = tl.maximum(1.0, 2.0, propagate_nan="SOME")
#                                              ^~~~~~
# bad_argument.py:22:55: error: fp_downcast_rounding is 'rtne' or 'rtz', not 'up' [bad-argument]
#       n = tl.cast(1.5, tl.float16, fp_downcast_rounding="up")
#                                                         ^~~~
