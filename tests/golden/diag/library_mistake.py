# test: diag arg=x=*f32 arg=h=*f16 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, h, n):
    a = tl.sigmoid(tl.load(h))
    b = tl.softmax(n)
    c = tl.rand(n, "offset")
# --- expected
# library_mistake.py:7:9: error: 'tl.exp' takes float32 or float64, but this is float16; convert with .to(tl.float32) [bad-operand]
#       a = tl.sigmoid(tl.load(h))
#           ^~~~~~~~~~~~~~~~~~~~~~
# library_mistake.py:8:9: error: argument 'axis' of 'tl.max' is 0, but a scalar has no dimensions [shape-mismatch]
#       b = tl.softmax(n)
#           ^~~~~~~~~~~~~
# library_mistake.py:9:9: error: the argument 'x' of 'tl.to_tensor' must be a tensor or a number, but is the constant 'offset' [bad-operand]
#       c = tl.rand(n, "offset")
#           ^~~~~~~~~~~~~~~~~~~~
