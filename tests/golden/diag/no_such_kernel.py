# test: diag kernel=missing
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    pass
