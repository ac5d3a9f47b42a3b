# test: lower arg=x=*f32 arg=n=i32 const=SHAPE=8
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, SHAPE: tl.constexpr):
    shape: tl.constexpr = (SHAPE, 4) + (2,)
    t = tl.zeros(shape[:-1], tl.float32)
    (a, b), c = (n, 2), t.shape[0]
    first, second = (1,) if False else (2, 3)[0:1] + (4,)
    tl.store(x, tl.sum(t) + a + b + c + len(shape) + first + second)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %t: tile<8x4xf32> = const {value=0.0}
#   %b: i32 = const {value=2}
#   %c: i32 = const {value=8}
#   %first: i32 = const {value=2}
#   %second: i32 = const {value=4}
#   %0: tile<32xf32> = reshape %t {reorder=1}
#   %1: f32 = reduce %0 {axis=0} region(%2: f32, %3: f32) {
#     %4: f32 = add %2, %3
#     yield %4
#   }
#   %5: f32 = cast %n
#   %6: f32 = add %1, %5
#   %7: f32 = cast %b
#   %8: f32 = add %6, %7
#   %9: f32 = cast %c
#   %10: f32 = add %8, %9
#   %11: f32 = const {value=3.0}
#   %12: f32 = add %10, %11
#   %13: f32 = cast %first
#   %14: f32 = add %12, %13
#   %15: f32 = cast %second
#   %16: f32 = add %14, %15
#   store %x, %16
#   return
# }
