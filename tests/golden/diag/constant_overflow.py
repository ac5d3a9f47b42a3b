# test: diag arg=x=*u8 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    b = tl.load(x)
    a = b + 256
    c = b - (-1)
    d = b + -1
    e = n + 5000000000
    f = 0xFFFFFFFFFFFFFFFF + 1
    g = tl.full((4,), 300, tl.uint8)
    h = 2 ** 70
