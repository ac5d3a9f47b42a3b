# test: lower arg=a=*i8 arg=b=*u8 arg=c=*fp8e4nv arg=o=*i32 arg=h=*f16 arg=e=*i32
import triton
import triton.language as tl
from triton.language.extra import tilewright


@triton.jit
def kernel(a, b, c, o, h, e):
    i = tl.arange(0, 32)
    tile = i[:, None] * 32 + i[None, :]
    x = tl.load(a + tile)
    y = tl.load(b + tile)
    acc = tl.dot(x, y)
    acc = tilewright.dot_int4(y, x, acc)
    kept = tl.load(a + i[:, None] * 16 + tl.arange(0, 16)[None, :])
    acc = tilewright.dot_sparse(kept, tl.load(e + i[:, None]), y, acc)
    tl.store(o + tile, acc)
    z = tl.load(c + tile)
    half = tl.dot(z, z, out_dtype=tl.float16)
    wide = tl.dot(z, z, max_num_imprecise_acc=32)
    tl.store(h + tile, tl.dot(half, half, half) + wide.to(tl.float16))
# --- expected
# kernel @kernel(%a: ptr<i8>, %b: ptr<u8>, %c: ptr<f8e4m3>, %o: ptr<i32>, %h: ptr<f16>, %e: ptr<i32>) attributes {num_stages=3, num_warps=4} {
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
#   %12: tile<32x1xi32> = expand_dims %i {axis=1}
#   %13: i32 = const {value=16}
#   %14: tile<32x1xi32> = splat %13
#   %15: tile<32x1xi32> = mul %12, %14
#   %16: tile<32x1xptr<i8>> = splat %a
#   %17: tile<32x1xptr<i8>> = ptr_add %16, %15
#   %18: tile<16xi32> = arange {end=16, start=0}
#   %19: tile<1x16xi32> = expand_dims %18 {axis=0}
#   %20: tile<32x16xptr<i8>> = broadcast %17
#   %21: tile<32x16xi32> = broadcast %19
#   %22: tile<32x16xptr<i8>> = ptr_add %20, %21
#   %kept: tile<32x16xi8> = load %22
#   %23: tile<32x1xi32> = expand_dims %i {axis=1}
#   %24: tile<32x1xptr<i32>> = splat %e
#   %25: tile<32x1xptr<i32>> = ptr_add %24, %23
#   %26: tile<32x1xi32> = load %25
#   %acc.2: tile<32x32xi32> = dot %kept, %y, %acc.1, %26
#   %27: tile<32x32xptr<i32>> = splat %o
#   %28: tile<32x32xptr<i32>> = ptr_add %27, %tile
#   store %28, %acc.2
#   %29: tile<32x32xptr<f8e4m3>> = splat %c
#   %30: tile<32x32xptr<f8e4m3>> = ptr_add %29, %tile
#   %z: tile<32x32xf8e4m3> = load %30
#   %31: tile<32x32xf16> = const {value=0.0}
#   %half: tile<32x32xf16> = dot %z, %z, %31
#   %32: tile<32x32xf32> = const {value=0.0}
#   %wide: tile<32x32xf32> = dot %z, %z, %32 {max_imprecise=32}
#   %33: tile<32x32xptr<f16>> = splat %h
#   %34: tile<32x32xptr<f16>> = ptr_add %33, %tile
#   %35: tile<32x32xf16> = dot %half, %half, %half
#   %36: tile<32x32xf16> = cast %wide
#   %37: tile<32x32xf16> = add %35, %36
#   store %34, %37
#   return
# }
