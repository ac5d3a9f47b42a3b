# test: lower arg=a=*f16 arg=b=*f16 arg=x=*f32 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, x, o):
    i = tl.arange(0, 16)
    tile = i[:, None] * 16 + i[None, :]
    p = tl.load(a + tile)
    q = tl.load(b + tile)
    s = tl.load(x + tile)
    acc = tl.dot(p, q)
    acc += tl.dot(p, q.T, acc=acc)
    half = tl.dot(p, tl.trans(q), out_dtype=tl.float16)
    exact = tl.dot(s, s, acc, allow_tf32=False)
    close = tl.dot(s, s, input_precision="tf32x3")
    tl.store(o + tile, acc + half + exact + close)
# --- expected
# kernel @kernel(%a: ptr<f16>, %b: ptr<f16>, %x: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %i: tile<16xi32> = arange {end=16, start=0}
#   %0: tile<16x1xi32> = expand_dims %i {axis=1}
#   %1: i32 = const {value=16}
#   %2: tile<16x1xi32> = splat %1
#   %3: tile<16x1xi32> = mul %0, %2
#   %4: tile<1x16xi32> = expand_dims %i {axis=0}
#   %5: tile<16x16xi32> = broadcast %3
#   %6: tile<16x16xi32> = broadcast %4
#   %tile: tile<16x16xi32> = add %5, %6
#   %7: tile<16x16xptr<f16>> = splat %a
#   %8: tile<16x16xptr<f16>> = ptr_add %7, %tile
#   %p: tile<16x16xf16> = load %8
#   %9: tile<16x16xptr<f16>> = splat %b
#   %10: tile<16x16xptr<f16>> = ptr_add %9, %tile
#   %q: tile<16x16xf16> = load %10
#   %11: tile<16x16xptr<f32>> = splat %x
#   %12: tile<16x16xptr<f32>> = ptr_add %11, %tile
#   %s: tile<16x16xf32> = load %12
#   %13: tile<16x16xf32> = const {value=0.0}
#   %acc: tile<16x16xf32> = dot %p, %q, %13
#   %14: tile<16x16xf16> = permute %q {order=[1, 0]}
#   %15: tile<16x16xf32> = dot %p, %14, %acc
#   %acc.1: tile<16x16xf32> = add %acc, %15
#   %16: tile<16x16xf16> = permute %q {order=[1, 0]}
#   %17: tile<16x16xf16> = const {value=0.0}
#   %half: tile<16x16xf16> = dot %p, %16, %17
#   %exact: tile<16x16xf32> = dot %s, %s, %acc.1 {precision=ieee}
#   %18: tile<16x16xf32> = const {value=0.0}
#   %close: tile<16x16xf32> = dot %s, %s, %18 {precision=tf32x3}
#   %19: tile<16x16xptr<f32>> = splat %o
#   %20: tile<16x16xptr<f32>> = ptr_add %19, %tile
#   %21: tile<16x16xf32> = cast %half
#   %22: tile<16x16xf32> = add %acc.1, %21
#   %23: tile<16x16xf32> = add %22, %exact
#   %24: tile<16x16xf32> = add %23, %close
#   store %20, %24
#   return
# }
