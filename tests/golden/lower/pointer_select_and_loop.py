# test: lower arg=x=*f32 arg=y=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n):
    p = tl.where(n > 0, x, y)
    q = x if n > 1 else y
    for i in range(n):
        p += 4
        tl.store(p - 1, tl.load(q + i.to(tl.uint32)))
