# test: lower arg=x=*f32 arg=h=*bf16 arg=b=*i8 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, h, b, o):
    r = tl.arange(0, 4)[:, None]
    c = tl.arange(0, 8)[None, :]
    f = tl.load(x + r * 8 + c)
    brain = tl.load(h + r * 8 + c)
    byte = tl.load(b + r * 8 + c)
    tl.store(o, tl.sum(f))
    tl.store(o + c, tl.sum(f, 0, keep_dims=True))
    tl.store(o + r, tl.max(brain, axis=1)[:, None])
    tl.store(o, tl.sum(tl.sum(byte, axis=-1)))
    tl.store(o, tl.max(tl.min(byte, axis=1)))
    tl.store(o, tl.sum(byte > 0))
    tl.store(o, tl.xor_sum(byte))
# --- expected
# kernel @kernel(%x: ptr<f32>, %h: ptr<bf16>, %b: ptr<i8>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<4xi32> = arange {end=4, start=0}
#   %r: tile<4x1xi32> = expand_dims %0 {axis=1}
#   %1: tile<8xi32> = arange {end=8, start=0}
#   %c: tile<1x8xi32> = expand_dims %1 {axis=0}
#   %2: i32 = const {value=8}
#   %3: tile<4x1xi32> = splat %2
#   %4: tile<4x1xi32> = mul %r, %3
#   %5: tile<4x1xptr<f32>> = splat %x
#   %6: tile<4x1xptr<f32>> = ptr_add %5, %4
#   %7: tile<4x8xptr<f32>> = broadcast %6
#   %8: tile<4x8xi32> = broadcast %c
#   %9: tile<4x8xptr<f32>> = ptr_add %7, %8
#   %f: tile<4x8xf32> = load %9
#   %10: i32 = const {value=8}
#   %11: tile<4x1xi32> = splat %10
#   %12: tile<4x1xi32> = mul %r, %11
#   %13: tile<4x1xptr<bf16>> = splat %h
#   %14: tile<4x1xptr<bf16>> = ptr_add %13, %12
#   %15: tile<4x8xptr<bf16>> = broadcast %14
#   %16: tile<4x8xi32> = broadcast %c
#   %17: tile<4x8xptr<bf16>> = ptr_add %15, %16
#   %brain: tile<4x8xbf16> = load %17
#   %18: i32 = const {value=8}
#   %19: tile<4x1xi32> = splat %18
#   %20: tile<4x1xi32> = mul %r, %19
#   %21: tile<4x1xptr<i8>> = splat %b
#   %22: tile<4x1xptr<i8>> = ptr_add %21, %20
#   %23: tile<4x8xptr<i8>> = broadcast %22
#   %24: tile<4x8xi32> = broadcast %c
#   %25: tile<4x8xptr<i8>> = ptr_add %23, %24
#   %byte: tile<4x8xi8> = load %25
#   %26: tile<32xf32> = reshape %f {reorder=1}
#   %27: f32 = reduce %26 {axis=0} region(%28: f32, %29: f32) {
#     %30: f32 = add %28, %29
#     yield %30
#   }
#   store %o, %27
#   %31: tile<1x8xptr<f32>> = splat %o
#   %32: tile<1x8xptr<f32>> = ptr_add %31, %c
#   %33: tile<8xf32> = reduce %f {axis=0} region(%34: f32, %35: f32) {
#     %36: f32 = add %34, %35
#     yield %36
#   }
#   %37: tile<1x8xf32> = expand_dims %33 {axis=0}
#   store %32, %37
#   %38: tile<4x1xptr<f32>> = splat %o
#   %39: tile<4x1xptr<f32>> = ptr_add %38, %r
#   %40: tile<4x8xf32> = cast %brain
#   %41: tile<4xf32> = reduce %40 {axis=1} region(%42: f32, %43: f32) {
#     %44: f32 = max %42, %43
#     yield %44
#   }
#   %45: tile<4x1xf32> = expand_dims %41 {axis=1}
#   store %39, %45
#   %46: tile<4x8xi32> = cast %byte
#   %47: tile<4xi32> = reduce %46 {axis=1} region(%48: i32, %49: i32) {
#     %50: i32 = add %48, %49
#     yield %50
#   }
#   %51: i32 = reduce %47 {axis=0} region(%52: i32, %53: i32) {
#     %54: i32 = add %52, %53
#     yield %54
#   }
#   %55: f32 = cast %51
#   store %o, %55
#   %56: tile<4x8xi32> = cast %byte
#   %57: tile<4xi32> = reduce %56 {axis=1} region(%58: i32, %59: i32) {
#     %60: i32 = min %58, %59
#     yield %60
#   }
#   %61: i32 = reduce %57 {axis=0} region(%62: i32, %63: i32) {
#     %64: i32 = max %62, %63
#     yield %64
#   }
#   %65: f32 = cast %61
#   store %o, %65
#   %66: i8 = const {value=0}
#   %67: tile<4x8xi8> = splat %66
#   %68: tile<4x8xi1> = cmp %byte, %67 {pred=gt}
#   %69: tile<4x8xu32> = cast %68
#   %70: tile<32xu32> = reshape %69 {reorder=1}
#   %71: u32 = reduce %70 {axis=0} region(%72: u32, %73: u32) {
#     %74: u32 = add %72, %73
#     yield %74
#   }
#   %75: f32 = cast %71
#   store %o, %75
#   %76: tile<32xi8> = reshape %byte {reorder=1}
#   %77: i8 = reduce %76 {axis=0} region(%78: i8, %79: i8) {
#     %80: i8 = xor %78, %79
#     yield %80
#   }
#   %81: f32 = cast %77
#   store %o, %81
#   return
# }
