# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    acc = 0
    size = tl.arange(0, 8)
    none = None
    for i in range(n):
        acc += tl.load(x + i)
        size = tl.arange(0, 16)
        none = i
    while acc < 3:
        acc = acc + 0.5
    tl.store(x, acc)
