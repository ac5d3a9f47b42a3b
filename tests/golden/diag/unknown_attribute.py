# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    a = tl.sofmax(x)
    b = tl.load(x).too(tl.float16)
    c = x.dtype.is_floaty()
    d = (1, 2).foo
# --- expected
# unknown_attribute.py:7:12: error: 'tl' has no attribute 'sofmax'; did you mean 'tl.softmax'? [unknown-attribute]
#       a = tl.sofmax(x)
#              ^~~~~~
# unknown_attribute.py:8:20: error: float32 has no attribute 'too'; did you mean '.to'? [unknown-attribute]
#       b = tl.load(x).too(tl.float16)
#                      ^~~
# unknown_attribute.py:9:17: error: the type pointer<float32> has no attribute 'is_floaty' [unknown-attribute]
#       c = x.dtype.is_floaty()
#                   ^~~~~~~~~
# unknown_attribute.py:10:16: error: a tuple of 2 has no attribute 'foo' [unknown-attribute]
#       d = (1, 2).foo
#                  ^~~
