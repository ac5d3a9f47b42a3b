# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x)
    pair = (a, n)
    if n > 3:
        a = a + 1.0
        both = 1
        pair = (a, n + 1)
    elif n:
        both = 2
        only = 7
        a = a * only
    else:
        both = 3
    u, v = pair
    tl.store(x, a + both + u + v)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %a: f32 = load %x
#   %0: i32 = const {value=3}
#   %1: i1 = cmp %n, %0 {pred=gt}
#   %a.1: f32, %both: i32, %pair: f32, %pair.1: i32 = if %1 region() {
#     %2: f32 = const {value=1.0}
#     %a.2: f32 = add %a, %2
#     %both.1: i32 = const {value=1}
#     %3: i32 = const {value=1}
#     %pair.2: i32 = add %n, %3
#     yield %a.2, %both.1, %a.2, %pair.2
#   } region() {
#     %4: i1 = cast %n
#     %a.3: f32, %both.2: i32 = if %4 region() {
#       %both.3: i32 = const {value=2}
#       %only: i32 = const {value=7}
#       %5: f32 = cast %only
#       %a.4: f32 = mul %a, %5
#       yield %a.4, %both.3
#     } region() {
#       %both.4: i32 = const {value=3}
#       yield %a, %both.4
#     }
#     yield %a.3, %both.2, %a, %n
#   }
#   %6: f32 = cast %both
#   %7: f32 = add %a.1, %6
#   %8: f32 = add %7, %pair
#   %9: f32 = cast %pair.1
#   %10: f32 = add %8, %9
#   store %x, %10
#   return
# }
