# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    tl.store(x, valeu)
    y = other_mistake + 1
    tl.store(x, y)
