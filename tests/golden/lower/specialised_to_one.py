# test: lower arg=x=*f32 const=stride=1 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, stride, n):
    if stride == 1:
        p = x + tl.arange(0, 16)
    else:
        p = x + tl.arange(0, 16) * stride + undefined_name
    for i in range(n):
        stride += i
    tl.store(p, stride)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: tile<16xi32> = arange {end=16, start=0}
#   %1: tile<16xptr<f32>> = splat %x
#   %p: tile<16xptr<f32>> = ptr_add %1, %0
#   %2: i32 = const {value=0}
#   %3: i32 = const {value=1}
#   %4: i32 = const {value=1}
#   %stride: i32 = for %2, %n, %3, %4 region(%i: i32, %stride.1: i32) {
#     %stride.2: i32 = add %stride.1, %i
#     yield %stride.2
#   }
#   %5: f32 = cast %stride
#   %6: tile<16xf32> = splat %5
#   store %p, %6
#   return
# }
