# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.arange(0, 8)
    b = tl.arange(0, 16)
    c = a + b
    d = tl.load(x + a, mask=b < 3)
    tl.store(x + a, b)
    tl.store(x, b)
    tl.store(x + a, 1.0, mask=a[:, None] < b[None, :])
    e = tl.sum(a, axis=1)
    f = a[:, :]
    g = tl.broadcast_to(a, [4])
    h = tl.reshape(a, [4, 4])
    if a > 3:
        pass
    i = tl.trans(a)
    j = tl.permute(a[:, None], [0, 0])
    k = a.T
    m = tl.split(a[:, None])
    o = tl.cat(a, b)
    p = tl.load(x, mask=a < 3)
