# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def combine(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit
def kernel(x, o):
    f = tl.load(x + tl.arange(0, 8))
    total, largest = tl.reduce((f, f * f), 0, combine)
    tl.store(o, total + largest)
# --- expected
# kernel @kernel(%x: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<8xi32> = arange {end=8, start=0}
#   %1: tile<8xptr<f32>> = splat %x
#   %2: tile<8xptr<f32>> = ptr_add %1, %0
#   %f: tile<8xf32> = load %2
#   %3: tile<8xf32> = mul %f, %f
#   %total: f32, %largest: f32 = reduce %f, %3 {axis=0} region(%4: f32, %5: f32, %6: f32, %7: f32) {
#     %8: f32 = add %4, %6
#     %9: f32 = max %5, %7
#     yield %8, %9
#   }
#   %10: f32 = add %total, %largest
#   store %o, %10
#   return
# }
