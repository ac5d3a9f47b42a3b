# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    tl.store(x, valeu)
    y = other_mistake + 1
    tl.store(x, y)
# --- expected
# unknown_name.py:7:17: error: 'valeu' is not defined [unknown-name]
#       tl.store(x, valeu)
#                   ^~~~~
# unknown_name.py:8:9: error: 'other_mistake' is not defined [unknown-name]
#       y = other_mistake + 1
#           ^~~~~~~~~~~~~
