# test: lower arg=x=*f32 arg=n=i32 const=ON=True const=NAME=None
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, ON: tl.constexpr, NAME: tl.constexpr):
    a = n > 0
    b = n < 9
    if ON and a and b:
        tl.store(x, 1.0)
    if a or not b or not ON:
        tl.store(x, 2.0)
    if not ON or NAME is not None:
        tl.store(x, 3.0)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = const {value=0}
#   %a: i1 = cmp %n, %0 {pred=gt}
#   %1: i32 = const {value=9}
#   %b: i1 = cmp %n, %1 {pred=lt}
#   %2: i1 = and %a, %b
#   if %2 region() {
#     %3: f32 = const {value=1.0}
#     store %x, %3
#     yield
#   } region() {
#     yield
#   }
#   %4: i1 = not %b
#   %5: i1 = or %a, %4
#   if %5 region() {
#     %6: f32 = const {value=2.0}
#     store %x, %6
#     yield
#   } region() {
#     yield
#   }
#   return
# }
