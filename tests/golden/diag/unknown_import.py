# test: diag arg=x=*f32
import triton
import triton.language as tl

import torch
from .helpers import helper


@triton.jit
def kernel(x):
    tl.store(x, helper(3) + torch.sqrt(4))
# --- expected
# unknown_import.py:10:17: error: 'helper' comes from the module '.helpers', which is not part of this program [unknown-name]
#       tl.store(x, helper(3) + torch.sqrt(4))
#                   ^~~~~~~~~
# unknown_import.py:10:29: error: 'torch.sqrt' comes from the module 'torch', which is not part of this program [unknown-name]
#       tl.store(x, helper(3) + torch.sqrt(4))
#                               ^~~~~~~~~~~~~
