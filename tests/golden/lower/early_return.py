# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    i = tl.program_id(0)
    if i >= n:
        return
    v = tl.load(x + i)
    if v < 0:
        tl.store(x + i, 0.0)
        return
    tl.store(x + i, v * 2)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %i: i32 = program_id {axis=0}
#   %0: i1 = cmp %i, %n {pred=ge}
#   if %0 region() {
#     yield
#   } region() {
#     %1: ptr<f32> = ptr_add %x, %i
#     %v: f32 = load %1
#     %2: f32 = const {value=0.0}
#     %3: i1 = cmp %v, %2 {pred=lt}
#     if %3 region() {
#       %4: ptr<f32> = ptr_add %x, %i
#       %5: f32 = const {value=0.0}
#       store %4, %5
#       yield
#     } region() {
#       %6: ptr<f32> = ptr_add %x, %i
#       %7: f32 = const {value=2.0}
#       %8: f32 = mul %v, %7
#       store %6, %8
#       yield
#     }
#     yield
#   }
#   return
# }
