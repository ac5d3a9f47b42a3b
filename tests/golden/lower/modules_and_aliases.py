# test: lower arg=x=*f32
import triton
import triton.language as tl


import math

import triton.language.math as m
from triton.language.extra.cuda import libdevice

exp = tl.exp
dtype = tl.float32
SCALE: tl.constexpr = 4 * 2
PAIR = (1.5, tl.constexpr(2.5))


class Ops:
    @staticmethod
    @triton.jit
    def twice(x):
        return x * 2


@triton.jit
def kernel(x):
    v = tl.load(x)
    v = exp(v) + m.exp2(v) + libdevice.tanh(v) + tl.math.rsqrt(v) + triton.cdiv(7, 2) + SCALE
    v = Ops.twice(v) + PAIR[1] + math.pi
    tl.store(x, v.to(dtype))
