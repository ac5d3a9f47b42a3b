# test: lower arg=a=*f16 arg=b=*f16 arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, x, o):
    i = tl.arange(0, 16)
    tile = i[:, None] * 16 + i[None, :]
    p = tl.load(a + tile)
    q = tl.load(b + tile)
    s = tl.load(x + tile)
    acc = tl.dot(p, q)
    acc += tl.dot(p, q.T, acc=acc)
    half = tl.dot(p, tl.trans(q), out_dtype=tl.float16)
    exact = tl.dot(s, s, acc, allow_tf32=False)
    close = tl.dot(s, s, input_precision="tf32x3")
    tl.store(o + tile, acc + half + exact + close)
