# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def helper(a, b=2):
    return a + b


@triton.jit
def kernel(x):
    v = tl.load(x, maks=True)
    w = tl.load(x, None, None, (), "", "", "", False, 1)
    u = tl.load(x, pointer=x)
    helper(1, 2, 3)
    helper(1, c=2)
# --- expected
# unexpected_argument.py:11:20: error: 'tl.load' has no parameter 'maks'; it takes (pointer, mask, other, boundary_check, padding_option, cache_modifier, eviction_policy, volatile) [unexpected-argument]
#       v = tl.load(x, maks=True)
#                      ^~~~
# unexpected_argument.py:12:55: error: 'tl.load' takes 8 arguments, this is one more [unexpected-argument]
#       w = tl.load(x, None, None, (), "", "", "", False, 1)
#                                                         ^
# unexpected_argument.py:13:20: error: 'tl.load' is given its argument 'pointer' twice [unexpected-argument]
#       u = tl.load(x, pointer=x)
#                      ^~~~~~~
# unexpected_argument.py:14:18: error: 'helper' takes 2 arguments, this is one more [unexpected-argument]
#       helper(1, 2, 3)
#                    ^
# unexpected_argument.py:15:15: error: 'helper' has no parameter 'c'; it takes (a, b) [unexpected-argument]
#       helper(1, c=2)
#                 ^
