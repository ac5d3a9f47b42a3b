# test: lower arg=x=*f32 arg=n=i32 const=ON=True const=NAME=None
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, ON: tl.constexpr, NAME: tl.constexpr):
    a = n > 0
    b = n < 9
    if ON and a and b:
        tl.store(x, 1.0)
    if a or not b or not ON:
        tl.store(x, 2.0)
    if not ON or NAME is not None:
        tl.store(x, 3.0)
