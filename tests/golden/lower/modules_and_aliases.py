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
# --- expected
# kernel @kernel(%x: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %v: f32 = load %x
#   %0: f32 = exp %v
#   %1: f32 = exp2 %v
#   %2: f32 = add %0, %1
#   %3: f32 = tanh %v
#   %4: f32 = add %2, %3
#   %5: f32 = rsqrt %v
#   %6: f32 = add %4, %5
#   %7: f32 = const {value=4.0}
#   %8: f32 = add %6, %7
#   %9: f32 = const {value=8.0}
#   %v.1: f32 = add %8, %9
#   %10: f32 = const {value=2.0}
#   %11: f32 = mul %v.1, %10
#   %12: f32 = const {value=2.5}
#   %13: f32 = add %11, %12
#   %14: f32 = const {value=3.1415927410125732}
#   %v.2: f32 = add %13, %14
#   store %x, %v.2
#   return
# }
