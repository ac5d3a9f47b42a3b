# test: lower arg=x=*f16 arg=k=*i32 arg=o=*f32 arg=c=*i32
import triton
import triton.language as tl


@triton.jit
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def kernel(x, k, o, c):
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    v = tl.load(x + at)
    tl.store(o + at, tl.cumsum(v, 1, reverse=True, dtype=tl.float32))
    a, b = tl.associative_scan((v, v + 1), 0, compose)
    tl.store(o + 32 + at, a + b)
    index = tl.load(k + at)
    tl.store(o + 64 + at, tl.gather(v, index, 1))
    flat = tl.load(k + tl.arange(0, 32))
    tl.store(c + tl.arange(0, 16), tl.histogram(flat, 16, mask=flat > 3))
# --- expected
# kernel @kernel(%x: ptr<f16>, %k: ptr<i32>, %o: ptr<f32>, %c: ptr<i32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<4xi32> = arange {end=4, start=0}
#   %1: tile<4x1xi32> = expand_dims %0 {axis=1}
#   %2: i32 = const {value=8}
#   %3: tile<4x1xi32> = splat %2
#   %4: tile<4x1xi32> = mul %1, %3
#   %5: tile<8xi32> = arange {end=8, start=0}
#   %6: tile<1x8xi32> = expand_dims %5 {axis=0}
#   %7: tile<4x8xi32> = broadcast %4
#   %8: tile<4x8xi32> = broadcast %6
#   %at: tile<4x8xi32> = add %7, %8
#   %9: tile<4x8xptr<f16>> = splat %x
#   %10: tile<4x8xptr<f16>> = ptr_add %9, %at
#   %v: tile<4x8xf16> = load %10
#   %11: tile<4x8xptr<f32>> = splat %o
#   %12: tile<4x8xptr<f32>> = ptr_add %11, %at
#   %13: tile<4x8xf32> = cast %v
#   %14: tile<4x8xf32> = scan %13 {axis=1, reverse=1} region(%15: f32, %16: f32) {
#     %17: f32 = add %15, %16
#     yield %17
#   }
#   store %12, %14
#   %18: f16 = const {value=1.0}
#   %19: tile<4x8xf16> = splat %18
#   %20: tile<4x8xf16> = add %v, %19
#   %a: tile<4x8xf16>, %b: tile<4x8xf16> = scan %v, %20 {axis=0} region(%21: f16, %22: f16, %23: f16, %24: f16) {
#     %25: f16 = mul %21, %23
#     %26: f16 = mul %22, %23
#     %27: f16 = add %26, %24
#     yield %25, %27
#   }
#   %28: i32 = const {value=32}
#   %29: ptr<f32> = ptr_add %o, %28
#   %30: tile<4x8xptr<f32>> = splat %29
#   %31: tile<4x8xptr<f32>> = ptr_add %30, %at
#   %32: tile<4x8xf16> = add %a, %b
#   %33: tile<4x8xf32> = cast %32
#   store %31, %33
#   %34: tile<4x8xptr<i32>> = splat %k
#   %35: tile<4x8xptr<i32>> = ptr_add %34, %at
#   %index: tile<4x8xi32> = load %35
#   %36: i32 = const {value=64}
#   %37: ptr<f32> = ptr_add %o, %36
#   %38: tile<4x8xptr<f32>> = splat %37
#   %39: tile<4x8xptr<f32>> = ptr_add %38, %at
#   %40: tile<4x8xf16> = gather %v, %index {axis=1}
#   %41: tile<4x8xf32> = cast %40
#   store %39, %41
#   %42: tile<32xi32> = arange {end=32, start=0}
#   %43: tile<32xptr<i32>> = splat %k
#   %44: tile<32xptr<i32>> = ptr_add %43, %42
#   %flat: tile<32xi32> = load %44
#   %45: tile<16xi32> = arange {end=16, start=0}
#   %46: tile<16xptr<i32>> = splat %c
#   %47: tile<16xptr<i32>> = ptr_add %46, %45
#   %48: i32 = const {value=3}
#   %49: tile<32xi32> = splat %48
#   %50: tile<32xi1> = cmp %flat, %49 {pred=gt}
#   %51: tile<16xi32> = histogram %flat, %50 {bins=16}
#   store %47, %51
#   return
# }
