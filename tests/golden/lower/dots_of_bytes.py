# test: lower arg=a=*i8 arg=b=*u8 arg=c=*fp8e4nv arg=o=*i32 arg=h=*f16
import triton
import triton.language as tl
from triton.language.extra import tilewright


@triton.jit
def kernel(a, b, c, o, h):
    i = tl.arange(0, 32)
    tile = i[:, None] * 32 + i[None, :]
    x = tl.load(a + tile)
    y = tl.load(b + tile)
    acc = tl.dot(x, y)
    acc = tilewright.dot_int4(y, x, acc)
    tl.store(o + tile, acc)
    z = tl.load(c + tile)
    half = tl.dot(z, z, out_dtype=tl.float16)
    wide = tl.dot(z, z, max_num_imprecise_acc=32)
    tl.store(h + tile, tl.dot(half, half, half) + wide.to(tl.float16))
# --- expected
# kernel @kernel(%a: ptr<i8>, %b: ptr<u8>, %c: ptr<f8e4m3>, %o: ptr<i32>, %h: ptr<f16>) attributes {num_stages=3, num_warps=4} {
#   %i: tile<32xi32> = arange {end=32, start=0}
#   %0: tile<32x1xi32> = expand_dims %i {axis=1}
#   %1: i32 = const {value=32}
#   %2: tile<32x1xi32> = splat %1
#   %3: tile<32x1xi32> = mul %0, %2
#   %4: tile<1x32xi32> = expand_dims %i {axis=0}
#   %5: tile<32x32xi32> = broadcast %3
#   %6: tile<32x32xi32> = broadcast %4
#   %tile: tile<32x32xi32> = add %5, %6
#   %7: tile<32x32xptr<i8>> = splat %a
#   %8: tile<32x32xptr<i8>> = ptr_add %7, %tile
#   %x: tile<32x32xi8> = load %8
#   %9: tile<32x32xptr<u8>> = splat %b
#   %10: tile<32x32xptr<u8>> = ptr_add %9, %tile
#   %y: tile<32x32xu8> = load %10
#   %11: tile<32x32xi32> = const {value=0}
#   %acc: tile<32x32xi32> = dot %x, %y, %11
#   %acc.1: tile<32x32xi32> = dot %y, %x, %acc {nibbles=1}
#   %12: tile<32x32xptr<i32>> = splat %o
#   %13: tile<32x32xptr<i32>> = ptr_add %12, %tile
#   store %13, %acc.1
#   %14: tile<32x32xptr<f8e4m3>> = splat %c
#   %15: tile<32x32xptr<f8e4m3>> = ptr_add %14, %tile
#   %z: tile<32x32xf8e4m3> = load %15
#   %16: tile<32x32xf16> = const {value=0.0}
#   %half: tile<32x32xf16> = dot %z, %z, %16
#   %17: tile<32x32xf32> = const {value=0.0}
#   %wide: tile<32x32xf32> = dot %z, %z, %17 {max_imprecise=32}
#   %18: tile<32x32xptr<f16>> = splat %h
#   %19: tile<32x32xptr<f16>> = ptr_add %18, %tile
#   %20: tile<32x32xf16> = dot %half, %half, %half
#   %21: tile<32x32xf16> = cast %wide
#   %22: tile<32x32xf16> = add %20, %21
#   store %19, %22
#   return
# }
