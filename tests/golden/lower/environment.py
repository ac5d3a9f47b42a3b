# test: lower arg=x=*f32 env=BLOCK=16 env=DTYPE=f16 env=scaled=2.5
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i).to(DTYPE)
    tl.store(x + i, v * scaled)
