# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        if i > 3:
            break
        continue
    x[0] = 1.0
    while n > 0:
        return
    def inner(y):
        return y
    import math
    for j in (1, 2):
        pass
    for a, b in range(n):
        pass
