# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.device_assert(n > 0, "n is positive")
    tl.store(x, n)
