# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def loads(a, b):
    return a + b + tl.load(tl.cast(0, tl.int64).to(tl.pointer_type(tl.float32)))


@triton.jit
def wrong_type(a, b):
    return a > b


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    a = tl.reduce(v, 0, loads)
    b = tl.reduce(v, 0, wrong_type)
    c = tl.reduce(v, 0, 3)
    d = tl.sum(x)
    e = tl.xor_sum(v)
    f = tl.sum(v, dtype=x.dtype)
# --- expected
# reduce_functions.py:17:25: error: a combine function may compute only: no loads, stores, loops or asserts [bad-argument]
#       a = tl.reduce(v, 0, loads)
#                           ^~~~~
# reduce_functions.py:18:25: error: the combine function must return the types it folds, (float32), but returns int1 [type-mismatch]
#       b = tl.reduce(v, 0, wrong_type)
#                           ^~~~~~~~~~
# reduce_functions.py:19:25: error: argument 'combine_fn' of 'tl.reduce' must be a jit function of two elements, but is the constant 3 [bad-argument]
#       c = tl.reduce(v, 0, 3)
#                           ^
# reduce_functions.py:20:16: error: 'tl.sum' is not defined for pointer<float32> [bad-operand]
#       d = tl.sum(x)
#                  ^
# reduce_functions.py:21:20: error: 'tl.xor_sum' reduces integers, but this is float32[8] [bad-operand]
#       e = tl.xor_sum(v)
#                      ^
# reduce_functions.py:22:25: error: argument 'dtype' of 'tl.sum' must be a dtype of numbers, but is the type pointer<float32> [bad-argument]
#       f = tl.sum(v, dtype=x.dtype)
#                           ^~~~~~~
