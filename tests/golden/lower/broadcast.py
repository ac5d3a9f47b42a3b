# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    rows = tl.arange(0, 4)
    cols = tl.arange(0, 8)
    grid = rows[:, None] * 8 + cols[None, :]
    padded = grid + cols
    values = tl.load(x + padded, mask=cols < 5, other=-1)
    tl.store(o + grid, values, mask=rows[:, None] < 3)
    tl.store(o + grid, 1)
# --- expected
# kernel @kernel(%x: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %rows: tile<4xi32> = arange {end=4, start=0}
#   %cols: tile<8xi32> = arange {end=8, start=0}
#   %0: tile<4x1xi32> = expand_dims %rows {axis=1}
#   %1: i32 = const {value=8}
#   %2: tile<4x1xi32> = splat %1
#   %3: tile<4x1xi32> = mul %0, %2
#   %4: tile<1x8xi32> = expand_dims %cols {axis=0}
#   %5: tile<4x8xi32> = broadcast %3
#   %6: tile<4x8xi32> = broadcast %4
#   %grid: tile<4x8xi32> = add %5, %6
#   %7: tile<1x8xi32> = expand_dims %cols {axis=0}
#   %8: tile<4x8xi32> = broadcast %7
#   %padded: tile<4x8xi32> = add %grid, %8
#   %9: tile<4x8xptr<f32>> = splat %x
#   %10: tile<4x8xptr<f32>> = ptr_add %9, %padded
#   %11: i32 = const {value=5}
#   %12: tile<8xi32> = splat %11
#   %13: tile<8xi1> = cmp %cols, %12 {pred=lt}
#   %14: f32 = const {value=-1.0}
#   %15: tile<1x8xi1> = expand_dims %13 {axis=0}
#   %16: tile<4x8xi1> = broadcast %15
#   %17: tile<4x8xf32> = splat %14
#   %values: tile<4x8xf32> = load %10, %16, %17
#   %18: tile<4x8xptr<f32>> = splat %o
#   %19: tile<4x8xptr<f32>> = ptr_add %18, %grid
#   %20: tile<4x1xi32> = expand_dims %rows {axis=1}
#   %21: i32 = const {value=3}
#   %22: tile<4x1xi32> = splat %21
#   %23: tile<4x1xi1> = cmp %20, %22 {pred=lt}
#   %24: tile<4x8xi1> = broadcast %23
#   store %19, %values, %24
#   %25: tile<4x8xptr<f32>> = splat %o
#   %26: tile<4x8xptr<f32>> = ptr_add %25, %grid
#   %27: f32 = const {value=1.0}
#   %28: tile<4x8xf32> = splat %27
#   store %26, %28
#   return
# }
