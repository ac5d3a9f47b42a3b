# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    a = tl.arange(0, 2048)
    b = a[:, None] + a[None, :]
    c = tl.zeros((4194304,), tl.float32)
    d = tl.zeros((2, 2, 2, 2, 2, 2), tl.float32)
