# test: lower arg=x=*f32 arg=n=i32 const=WIDE=True
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, WIDE: tl.constexpr):
    size = 8 if WIDE else undefined
    a = tl.load(x)
    b = tl.load(x + 1) if n > 0 else a
    tl.store(x, b * (2 if n > 1 else 3) + size)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %size: i32 = const {value=8}
#   %a: f32 = load %x
#   %0: i32 = const {value=0}
#   %1: i1 = cmp %n, %0 {pred=gt}
#   %b: f32 = if %1 region() {
#     %2: i32 = const {value=1}
#     %3: ptr<f32> = ptr_add %x, %2
#     %4: f32 = load %3
#     yield %4
#   } region() {
#     yield %a
#   }
#   %5: i32 = const {value=1}
#   %6: i1 = cmp %n, %5 {pred=gt}
#   %7: i32 = if %6 region() {
#     %8: i32 = const {value=2}
#     yield %8
#   } region() {
#     %9: i32 = const {value=3}
#     yield %9
#   }
#   %10: f32 = cast %7
#   %11: f32 = mul %b, %10
#   %12: f32 = cast %size
#   %13: f32 = add %11, %12
#   store %x, %13
#   return
# }
