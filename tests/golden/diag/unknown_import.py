# test: diag arg=x=*f32
import triton
import triton.language as tl

import torch
from .helpers import helper


@triton.jit
def kernel(x):
    tl.store(x, helper(3) + torch.sqrt(4))
