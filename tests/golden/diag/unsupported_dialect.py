# test: diag arg=x=*f32
import triton
import triton.language as tl

import triton.experimental.tle.language as tle
from triton.experimental.gluon import language as gl


@triton.jit
def kernel(x):
    gl.barrier()
    tle.cumsum(x)
# --- expected
# unsupported_dialect.py:10:5: error: 'triton.experimental.gluon.language.barrier' belongs to Gluon, which is outside of Triton's language [unsupported-dialect]
#       gl.barrier()
#       ^~~~~~~~~~
# unsupported_dialect.py:11:5: error: 'triton.experimental.tle.language.cumsum' belongs to TLE, which is outside of Triton's language [unsupported-dialect]
#       tle.cumsum(x)
#       ^~~~~~~~~~
