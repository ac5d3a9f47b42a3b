# test: lower arg=h=*f16 arg=r=*bf16 arg=i=*u8 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(h, r, i, o):
    half = tl.load(h)
    brain = tl.load(r)
    byte = tl.load(i)
    tl.store(o, tl.maximum(half, 0.0))
    tl.store(o, tl.minimum(half, half))
    tl.store(o, tl.maximum(brain, brain))
    tl.store(o, tl.maximum(byte, byte))
    tl.store(o, tl.clamp(half, 0.0, 1.0))
    tl.store(o, tl.maximum(half, half, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o, min(byte, 3) + max(1, 2, 3))
