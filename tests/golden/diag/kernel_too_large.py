# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    for i in tl.static_range(100000):
        tl.store(x + i, i)
    for i in tl.static_range(8000):
        for j in tl.static_range(8000):
            tl.store(x + i, j)
