# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    v = tl.load(x)
    a = x + x
    b = x * 2
    c = v & 1
    d = v // 2.0
    e = ~v
    f = n ** 2
    g = v @ v
    h = "a" + 1
    i = x + 1.5
    j = -x
    k = x < x
    m = v + "text"
    o = tl.exp(n)
    p = tl.clamp(n, 0, 1)
    q = (1, 2) + 3
