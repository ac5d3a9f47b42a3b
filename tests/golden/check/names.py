# test: check
import torch
import triton
import triton.language as tl
BLOCK_SIZE = 64

@triton.jit
def helper(value, weight, eps=1e-6):
    return value * weight + epsilon

@triton.jit
def kernel(x_ptr, stride_row, n):
    offs = tl.arange(0, BLOCK_SIZ)
    mask = offs < N_COLS
    x = tl.laod(x_ptr + offs * stride_rows)
    y = tl.exp3(x) + tl.math.nothing(x) + tl.flaot32
    z = helper(x) + helper(x, 1, 2, 3) + helper(x, wieght=1) + helper(x, 1, value=2)
    w = tl.load(x_ptr, mask=mask, othr=0.0) + tl.program_id() + tl.where(x, y, z, w)
    v = torch.softmax(x) + tl.map_elementwise(x, y) + tl.device_print("x", x)
    u = helper.missing + x.scatter(y) + Ops.absent(x)
    t = min(x, y) + mni(x)

@triton.jit
def fine(x):
    return helper(x, weight=x)

class Ops:
    @triton.jit
    def present(x):
        return Ops.present2(x)
# --- expected
# helper:
# names.py:8:29: error: 'epsilon' is not defined [unknown-name]
#       return value * weight + epsilon
#                               ^~~~~~~
# kernel:
# names.py:12:25: error: 'BLOCK_SIZ' is not defined; did you mean 'BLOCK_SIZE'? [unknown-name]
#       offs = tl.arange(0, BLOCK_SIZ)
#                           ^~~~~~~~~
# names.py:13:19: error: 'N_COLS' is not defined [unknown-name]
#       mask = offs < N_COLS
#                     ^~~~~~
# names.py:14:12: error: 'tl' has no attribute 'laod'; did you mean 'tl.load'? [unknown-attribute]
#       x = tl.laod(x_ptr + offs * stride_rows)
#              ^~~~
# names.py:14:32: error: 'stride_rows' is not defined; did you mean 'stride_row'? [unknown-name]
#       x = tl.laod(x_ptr + offs * stride_rows)
#                                  ^~~~~~~~~~~
# names.py:15:12: error: 'tl' has no attribute 'exp3'; did you mean 'tl.exp'? [unknown-attribute]
#       y = tl.exp3(x) + tl.math.nothing(x) + tl.flaot32
#              ^~~~
# names.py:15:30: error: 'tl.math' has no attribute 'nothing' [unknown-attribute]
#       y = tl.exp3(x) + tl.math.nothing(x) + tl.flaot32
#                                ^~~~~~~
# names.py:15:46: error: 'tl' has no attribute 'flaot32'; did you mean 'tl.float32'? [unknown-attribute]
#       y = tl.exp3(x) + tl.math.nothing(x) + tl.flaot32
#                                                ^~~~~~~
# names.py:16:9: error: the call of 'helper' lacks its argument 'weight' [missing-argument]
#       z = helper(x) + helper(x, 1, 2, 3) + helper(x, wieght=1) + helper(x, 1, value=2)
#           ^~~~~~~~~
# names.py:16:37: error: 'helper' takes 3 arguments [unexpected-argument]
#       z = helper(x) + helper(x, 1, 2, 3) + helper(x, wieght=1) + helper(x, 1, value=2)
#                                       ^
# names.py:16:52: error: 'helper' has no parameter 'wieght'; did you mean 'weight'? [unexpected-argument]
#       z = helper(x) + helper(x, 1, 2, 3) + helper(x, wieght=1) + helper(x, 1, value=2)
#                                                      ^~~~~~
# names.py:16:77: error: 'helper' is given its argument 'value' twice [unexpected-argument]
#       z = helper(x) + helper(x, 1, 2, 3) + helper(x, wieght=1) + helper(x, 1, value=2)
#                                                                               ^~~~~
# names.py:17:35: error: 'tl.load' has no parameter 'othr'; it takes (pointer, mask, other, boundary_check, padding_option, cache_modifier, eviction_policy, volatile) [unexpected-argument]
#       w = tl.load(x_ptr, mask=mask, othr=0.0) + tl.program_id() + tl.where(x, y, z, w)
#                                     ^~~~
# names.py:17:47: error: the call of 'tl.program_id' lacks its argument 'axis' [missing-argument]
#       w = tl.load(x_ptr, mask=mask, othr=0.0) + tl.program_id() + tl.where(x, y, z, w)
#                                                 ^~~~~~~~~~~~~~~
# names.py:17:83: error: 'tl.where' takes 3 arguments, this is one more [unexpected-argument]
#       w = tl.load(x_ptr, mask=mask, othr=0.0) + tl.program_id() + tl.where(x, y, z, w)
#                                                                                     ^
# names.py:18:9: error: 'torch.softmax' comes from the module 'torch', which is not part of this program [unknown-name]
#       v = torch.softmax(x) + tl.map_elementwise(x, y) + tl.device_print("x", x)
#           ^~~~~~~~~~~~~~~~
# names.py:18:28: error: 'tl.map_elementwise' (a scalar function applied to each element) is not supported yet [unsupported-builtin]
#       v = torch.softmax(x) + tl.map_elementwise(x, y) + tl.device_print("x", x)
#                              ^~~~~~~~~~~~~~~~~~~~~~~~
# names.py:18:55: error: 'tl.device_print' (prints values at run time) is not supported yet [unsupported-builtin]
#       v = torch.softmax(x) + tl.map_elementwise(x, y) + tl.device_print("x", x)
#                                                         ^~~~~~~~~~~~~~~~~~~~~~~
# names.py:19:26: error: '.scatter' (writes rows by index through a descriptor) is not supported yet [unsupported-builtin]
#       u = helper.missing + x.scatter(y) + Ops.absent(x)
#                            ^~~~~~~~~
# names.py:19:45: error: the class 'Ops' has no attribute 'absent' [unknown-attribute]
#       u = helper.missing + x.scatter(y) + Ops.absent(x)
#                                               ^~~~~~
# names.py:20:21: error: 'mni' is not defined; did you mean 'min'? [unknown-name]
#       t = min(x, y) + mni(x)
#                       ^~~
# fine: ok
# Ops.present:
# names.py:29:20: error: the class 'Ops' has no attribute 'present2' [unknown-attribute]
#           return Ops.present2(x)
#                      ^~~~~~~~
