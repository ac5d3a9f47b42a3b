# test: lower arg=x=*f32 arg=i=*i32 arg=o=*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, o):
    f = tl.load(x + tl.arange(0, 8))
    n = tl.load(i + tl.arange(0, 8))
    top, at = tl.max(f, axis=0, return_indices=True)
    tl.store(o, at + top)
    tl.store(o, tl.argmin(n, 0))
# --- expected
# kernel @kernel(%x: ptr<f32>, %i: ptr<i32>, %o: ptr<i32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<8xi32> = arange {end=8, start=0}
#   %1: tile<8xptr<f32>> = splat %x
#   %2: tile<8xptr<f32>> = ptr_add %1, %0
#   %f: tile<8xf32> = load %2
#   %3: tile<8xi32> = arange {end=8, start=0}
#   %4: tile<8xptr<i32>> = splat %i
#   %5: tile<8xptr<i32>> = ptr_add %4, %3
#   %n: tile<8xi32> = load %5
#   %6: tile<8xi32> = arange {end=8, start=0}
#   %top: f32, %at: i32 = reduce %f, %6 {axis=0} region(%7: f32, %8: i32, %9: f32, %10: i32) {
#     %nan1: i1 = cmp %7, %7 {pred=ne}
#     %nan2: i1 = cmp %9, %9 {pred=ne}
#     %11: i1 = cmp %7, %9 {pred=eq}
#     %12: i1 = and %nan1, %nan2
#     %tie: i1 = or %11, %12
#     %13: i1 = cmp %7, %9 {pred=gt}
#     %14: i1 = not %nan1
#     %15: i1 = and %nan2, %14
#     %16: i1 = or %13, %15
#     %17: i1 = cmp %8, %10 {pred=lt}
#     %18: i1 = and %tie, %17
#     %left: i1 = or %16, %18
#     %19: f32 = select %left, %7, %9
#     %20: i32 = select %left, %8, %10
#     yield %19, %20
#   }
#   %21: f32 = cast %at
#   %22: f32 = add %21, %top
#   %23: i32 = cast %22
#   store %o, %23
#   %24: tile<8xi32> = arange {end=8, start=0}
#   %25: i32, %26: i32 = reduce %n, %24 {axis=0} region(%27: i32, %28: i32, %29: i32, %30: i32) {
#     %31: i1 = cmp %27, %29 {pred=lt}
#     %32: i1 = cmp %27, %29 {pred=eq}
#     %33: i1 = cmp %28, %30 {pred=lt}
#     %34: i1 = and %32, %33
#     %left.1: i1 = or %31, %34
#     %35: i32 = select %left.1, %27, %29
#     %36: i32 = select %left.1, %28, %30
#     yield %35, %36
#   }
#   store %o, %26
#   return
# }
