# test: check
import math
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language import float16 as half
from helpers import *

SCALE: tl.constexpr = 2.0
LOG2E = math.log2(math.e)
exp = tl.exp

@triton.jit
def helper(x, y=1, *, flag: tl.constexpr = False):
    return x * y, flag

@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr, dtype: tl.constexpr = tl.float32):
    """Uses most forms."""
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask, other=0.0).to(dtype)
    y, flag = helper(exp(x) * SCALE * LOG2E, flag=True)
    for i in tl.static_range(4):
        if i % 2 == 0 and flag is not None:
            y += libdevice.tanh(x).to(half)
    acc = y if BLOCK > 1 else x
    if hasattr(tl, "not_there"):
        acc = tl.not_there(acc)
    unknown = from_star_import(acc)
    if n < 0:
        raise ValueError("negative")
    tl.static_assert(BLOCK <= 1024, f"block {BLOCK}")
    tl.store(x_ptr + offs, acc.sum(axis=0)[None] + len(x.shape) + float("inf"), mask=mask)
# --- expected
# helper: ok
# kernel: ok
