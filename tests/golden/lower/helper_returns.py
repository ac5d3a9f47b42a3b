# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def clipped(v, low=0.0, high=1.0):
    """Two results, by two ways out."""
    if v < low:
        return v * 0 + low, 1
    if v > high:
        return v * 0 + high, 2
    return v, 3


@triton.jit
def choose(n):
    if n > 5:
        if n > 7:
            return 70
        n = n + 1
    return n


@triton.jit
def kernel(x, n):
    v, k = clipped(tl.load(x), high=3.0)
    w, _ = clipped(v, 1.0, 2.0)
    tl.store(x, w + k + choose(n))
