# test: diag arg=x=*f32
import triton
import triton.language as tl

import triton.experimental.tle.language as tle
from triton.experimental.gluon import language as gl


@triton.jit
def kernel(x):
    gl.barrier()
    tle.cumsum(x)
