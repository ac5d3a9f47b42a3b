# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    a = tl.sofmax(x)
    b = tl.load(x).too(tl.float16)
    c = x.dtype.is_floaty()
    d = (1, 2).foo
