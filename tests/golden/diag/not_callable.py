# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x)
    v(1)
    tl.float32(1.0)
# --- expected
# not_callable.py:8:5: error: float32 cannot be called [not-callable]
#       v(1)
#       ^~~~
# not_callable.py:9:5: error: the type float32 cannot be called [not-callable]
#       tl.float32(1.0)
#       ^~~~~~~~~~~~~~~
