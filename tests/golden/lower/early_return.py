# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    i = tl.program_id(0)
    if i >= n:
        return
    v = tl.load(x + i)
    if v < 0:
        tl.store(x + i, 0.0)
        return
    tl.store(x + i, v * 2)
