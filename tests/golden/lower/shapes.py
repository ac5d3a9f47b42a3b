# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    v = tl.load(x + tl.arange(0, 16))
    m = tl.reshape(v, [4, 4])
    n = m.reshape(2, 8).trans().view((16,))
    a, b = tl.split(tl.reshape(v, (8, 2)))
    j = tl.interleave(a, b) + tl.cat(a, b, can_reorder=True)
    w = tl.permute(m[:, None, :], (2, 0, 1)).reshape([16])
    e = tl.expand_dims(tl.expand_dims(a, 0), [2])
    t = tl.broadcast_to(e, 4, 8, 1)
    f = tl.flip(m, 0)
    tl.store(o + tl.arange(0, 16), n + j + w + tl.ravel(f))
    tl.store(o, tl.sum(t) + tl.sum(tl.broadcast_to(a[None, :], [2, 8])))
