# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    for i in tl.static_range(100000):
        tl.store(x + i, i)
    for i in tl.static_range(8000):
        for j in tl.static_range(8000):
            tl.store(x + i, j)
# --- expected
# kernel_too_large.py:7:14: error: tl.static_range would unroll 100000 iterations, at most 8192 are allowed; use tl.range [kernel-too-large]
#       for i in tl.static_range(100000):
#                ^~~~~~~~~~~~~~~~~~~~~~~
# kernel_too_large.py:11:29: error: the kernel grows beyond 400000 ops while loops are unrolled and calls expanded [kernel-too-large]
#               tl.store(x + i, j)
#                               ^
