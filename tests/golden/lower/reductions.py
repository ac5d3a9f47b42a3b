# test: lower arg=x=*f32 arg=h=*bf16 arg=b=*i8 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, h, b, o):
    r = tl.arange(0, 4)[:, None]
    c = tl.arange(0, 8)[None, :]
    f = tl.load(x + r * 8 + c)
    brain = tl.load(h + r * 8 + c)
    byte = tl.load(b + r * 8 + c)
    tl.store(o, tl.sum(f))
    tl.store(o + c, tl.sum(f, 0, keep_dims=True))
    tl.store(o + r, tl.max(brain, axis=1)[:, None])
    tl.store(o, tl.sum(tl.sum(byte, axis=-1)))
    tl.store(o, tl.max(tl.min(byte, axis=1)))
    tl.store(o, tl.sum(byte > 0))
    tl.store(o, tl.xor_sum(byte))
