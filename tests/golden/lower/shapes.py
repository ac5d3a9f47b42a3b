# test: lower arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    v = tl.load(x + tl.arange(0, 16))
    m = tl.reshape(v, [4, 4])
    n = m.reshape(2, 8).trans().view((16,))
    a, b = tl.split(tl.reshape(v, (8, 2)))
    j = tl.interleave(a, b) + tl.cat(a, b, can_reorder=True)
    w = tl.permute(m[:, None, :], (2, 0, 1)).reshape([16])
    e = tl.expand_dims(tl.expand_dims(a, 0), [2])
    t = tl.broadcast_to(e, 4, 8, 1)
    f = tl.flip(m, 0)
    tl.store(o + tl.arange(0, 16), n + j + w + tl.ravel(f))
    tl.store(o, tl.sum(t) + tl.sum(tl.broadcast_to(a[None, :], [2, 8])))
# --- expected
# kernel @kernel(%x: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<16xi32> = arange {end=16, start=0}
#   %1: tile<16xptr<f32>> = splat %x
#   %2: tile<16xptr<f32>> = ptr_add %1, %0
#   %v: tile<16xf32> = load %2
#   %m: tile<4x4xf32> = reshape %v
#   %3: tile<2x8xf32> = reshape %m
#   %4: tile<8x2xf32> = permute %3 {order=[1, 0]}
#   %n: tile<16xf32> = reshape %4
#   %5: tile<8x2xf32> = reshape %v
#   %a: tile<8xf32>, %b: tile<8xf32> = split %5
#   %c: tile<8x2xf32> = join %a, %b
#   %6: tile<16xf32> = reshape %c
#   %7: tile<16xf32> = cat %a, %b {axis=0}
#   %j: tile<16xf32> = add %6, %7
#   %8: tile<4x1x4xf32> = expand_dims %m {axis=1}
#   %9: tile<4x4x1xf32> = permute %8 {order=[2, 0, 1]}
#   %w: tile<16xf32> = reshape %9
#   %10: tile<1x8xf32> = expand_dims %a {axis=0}
#   %e: tile<1x8x1xf32> = expand_dims %10 {axis=2}
#   %t: tile<4x8x1xf32> = broadcast %e
#   %11: tile<1x2x8xf32> = reshape %m
#   %y: tile<1x8x2xf32> = permute %11 {order=[0, 2, 1]}
#   %a.1: tile<1x8xf32>, %b.1: tile<1x8xf32> = split %y
#   %12: tile<1x8x2xf32> = join %b.1, %a.1
#   %y.1: tile<1x2x8xf32> = permute %12 {order=[0, 2, 1]}
#   %13: tile<2x2x4xf32> = reshape %y.1
#   %y.2: tile<2x4x2xf32> = permute %13 {order=[0, 2, 1]}
#   %a.2: tile<2x4xf32>, %b.2: tile<2x4xf32> = split %y.2
#   %14: tile<2x4x2xf32> = join %b.2, %a.2
#   %y.3: tile<2x2x4xf32> = permute %14 {order=[0, 2, 1]}
#   %f: tile<4x4xf32> = reshape %y.3
#   %15: tile<16xi32> = arange {end=16, start=0}
#   %16: tile<16xptr<f32>> = splat %o
#   %17: tile<16xptr<f32>> = ptr_add %16, %15
#   %18: tile<16xf32> = add %n, %j
#   %19: tile<16xf32> = add %18, %w
#   %20: tile<16xf32> = reshape %f
#   %21: tile<16xf32> = add %19, %20
#   store %17, %21
#   %22: tile<32xf32> = reshape %t {reorder=1}
#   %23: f32 = reduce %22 {axis=0} region(%24: f32, %25: f32) {
#     %26: f32 = add %24, %25
#     yield %26
#   }
#   %27: tile<1x8xf32> = expand_dims %a {axis=0}
#   %28: tile<2x8xf32> = broadcast %27
#   %29: tile<16xf32> = reshape %28 {reorder=1}
#   %30: f32 = reduce %29 {axis=0} region(%31: f32, %32: f32) {
#     %33: f32 = add %31, %32
#     yield %33
#   }
#   %34: f32 = add %23, %30
#   store %o, %34
#   return
# }
