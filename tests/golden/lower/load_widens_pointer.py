# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    cols = tl.arange(0, 8)
    mask = (tl.arange(0, 4)[:, None] < 3) & (cols < 7)
    values = tl.load(x + cols[None, :], mask=mask, other=0)
    tl.store(o, tl.sum(values))
# --- expected
# kernel @kernel(%x: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %cols: tile<8xi32> = arange {end=8, start=0}
#   %0: tile<4xi32> = arange {end=4, start=0}
#   %1: tile<4x1xi32> = expand_dims %0 {axis=1}
#   %2: i32 = const {value=3}
#   %3: tile<4x1xi32> = splat %2
#   %4: tile<4x1xi1> = cmp %1, %3 {pred=lt}
#   %5: i32 = const {value=7}
#   %6: tile<8xi32> = splat %5
#   %7: tile<8xi1> = cmp %cols, %6 {pred=lt}
#   %8: tile<4x8xi1> = broadcast %4
#   %9: tile<1x8xi1> = expand_dims %7 {axis=0}
#   %10: tile<4x8xi1> = broadcast %9
#   %mask: tile<4x8xi1> = and %8, %10
#   %11: tile<1x8xi32> = expand_dims %cols {axis=0}
#   %12: tile<1x8xptr<f32>> = splat %x
#   %13: tile<1x8xptr<f32>> = ptr_add %12, %11
#   %14: f32 = const {value=0.0}
#   %15: tile<4x8xptr<f32>> = broadcast %13
#   %16: tile<4x8xf32> = splat %14
#   %values: tile<4x8xf32> = load %15, %mask, %16
#   %17: tile<32xf32> = reshape %values {reorder=1}
#   %18: f32 = reduce %17 {axis=0} region(%19: f32, %20: f32) {
#     %21: f32 = add %19, %20
#     yield %21
#   }
#   store %o, %18
#   return
# }
