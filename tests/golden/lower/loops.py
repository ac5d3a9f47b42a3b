# test: lower arg=x=*f32 arg=n=i32 arg=m=i64
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, m):
    acc = 0.0
    last = 0
    for i in range(n):
        for j in tl.range(i, m, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
            acc += tl.load(x + j)
        last = i
    for k in range(10, 0, -1):
        acc += k
    steps = 0
    while acc > 1.0:
        acc = acc * 0.5
        steps += 1
    tl.store(x, acc + last + steps)
