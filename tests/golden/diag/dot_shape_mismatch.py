# test: diag arg=h=*f16
import triton
import triton.language as tl


@triton.jit
def kernel(h):
    i = tl.arange(0, 16)
    j = tl.arange(0, 32)
    a = tl.load(h + i[:, None] * 16 + i[None, :])
    b = tl.load(h + j[:, None] * 16 + i[None, :])
    c = tl.dot(a, b)
    d = tl.dot(a, i)
    e = tl.dot(i.to(tl.float16), i.to(tl.float16))
    f = tl.dot(a, a, acc=tl.zeros((16, 32), tl.float32))
    k = tl.arange(0, 8)
    g = tl.dot(tl.load(h + i[:, None] * 8 + k[None, :]), tl.load(h + k[:, None] * 16 + i[None, :]))
    m = tl.dot(a, 2.0)
