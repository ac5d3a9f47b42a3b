# test: diag arg=x=*f32 arg=i=*i32 arg=n=i32 arg=u=u32
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, n, u):
    a = n // u
    b = n % u
    c = tl.load(x, mask=n)
    d = not n
    e = n and True
    f = tl.where(n > 0, x, i)
    for k in range(0.5, n):
        pass
    g = tl.join(tl.arange(0, 4), tl.zeros((4,), tl.float32))
