# test: lower arg=flags=*i1 arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(flags, x, n):
    on = tl.load(flags)
    value = tl.load(x, mask=on, other=2.0)
    tl.store(x, value, mask=n > 0)
    tl.store(flags, n)
