# test: lower arg=x=*f32:16 arg=m=i32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, m, n):
    desc = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[8, 16])
    v = desc.load([tl.program_id(0) * 8, 0])
    desc.store([0, 16], v + desc.block_shape[1])
# --- expected
# kernel @kernel(%x: ptr<f32> {div=16}, %m: i32, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i64 = cast %m
#   %1: i64 = cast %n
#   %2: i64 = cast %n
#   %3: i64 = const {value=1}
#   %4: i32 = program_id {axis=0}
#   %5: i32 = const {value=8}
#   %6: i32 = mul %4, %5
#   %7: i32 = const {value=0}
#   %8: i64 = cast %6
#   %9: i64 = mul %8, %2
#   %10: ptr<f32> = ptr_add %x, %9
#   %11: i64 = cast %7
#   %12: i64 = mul %11, %3
#   %13: ptr<f32> = ptr_add %10, %12
#   %14: tile<8xi32> = arange {end=8, start=0}
#   %15: tile<8xi64> = cast %14
#   %16: tile<8x1xi64> = expand_dims %15 {axis=1}
#   %17: tile<8x1xi64> = splat %2
#   %18: tile<8x1xi64> = mul %16, %17
#   %19: tile<8x16xi64> = broadcast %18
#   %20: tile<16xi32> = arange {end=16, start=0}
#   %21: tile<16xi64> = cast %20
#   %22: tile<1x16xi64> = expand_dims %21 {axis=0}
#   %23: tile<1x16xi64> = splat %3
#   %24: tile<1x16xi64> = mul %22, %23
#   %25: tile<8x16xi64> = broadcast %24
#   %26: tile<8x16xi64> = add %19, %25
#   %27: tile<8x16xptr<f32>> = splat %13
#   %28: tile<8x16xptr<f32>> = ptr_add %27, %26
#   %29: tile<8xi32> = arange {end=8, start=0}
#   %30: tile<8xi64> = cast %29
#   %31: tile<8x1xi64> = expand_dims %30 {axis=1}
#   %32: i64 = cast %6
#   %33: tile<8x1xi64> = splat %32
#   %34: tile<8x1xi64> = add %31, %33
#   %35: tile<8x1xi64> = const {value=0}
#   %36: tile<8x1xi1> = cmp %34, %35 {pred=ge}
#   %37: tile<8x16xi1> = broadcast %36
#   %38: tile<8x1xi64> = splat %0
#   %39: tile<8x1xi1> = cmp %34, %38 {pred=lt}
#   %40: tile<8x16xi1> = broadcast %39
#   %41: tile<8x16xi1> = and %37, %40
#   %42: tile<16xi32> = arange {end=16, start=0}
#   %43: tile<16xi64> = cast %42
#   %44: tile<1x16xi64> = expand_dims %43 {axis=0}
#   %45: i64 = cast %7
#   %46: tile<1x16xi64> = splat %45
#   %47: tile<1x16xi64> = add %44, %46
#   %48: tile<1x16xi64> = const {value=0}
#   %49: tile<1x16xi1> = cmp %47, %48 {pred=ge}
#   %50: tile<8x16xi1> = broadcast %49
#   %51: tile<8x16xi1> = and %41, %50
#   %52: tile<1x16xi64> = splat %1
#   %53: tile<1x16xi1> = cmp %47, %52 {pred=lt}
#   %54: tile<8x16xi1> = broadcast %53
#   %55: tile<8x16xi1> = and %51, %54
#   %v: tile<8x16xf32> = load %28, %55
#   %56: f32 = const {value=16.0}
#   %57: tile<8x16xf32> = splat %56
#   %58: tile<8x16xf32> = add %v, %57
#   %59: i32 = const {value=0}
#   %60: i32 = const {value=16}
#   %61: i64 = cast %59
#   %62: i64 = mul %61, %2
#   %63: ptr<f32> = ptr_add %x, %62
#   %64: i64 = cast %60
#   %65: i64 = mul %64, %3
#   %66: ptr<f32> = ptr_add %63, %65
#   %67: tile<8xi32> = arange {end=8, start=0}
#   %68: tile<8xi64> = cast %67
#   %69: tile<8x1xi64> = expand_dims %68 {axis=1}
#   %70: tile<8x1xi64> = splat %2
#   %71: tile<8x1xi64> = mul %69, %70
#   %72: tile<8x16xi64> = broadcast %71
#   %73: tile<16xi32> = arange {end=16, start=0}
#   %74: tile<16xi64> = cast %73
#   %75: tile<1x16xi64> = expand_dims %74 {axis=0}
#   %76: tile<1x16xi64> = splat %3
#   %77: tile<1x16xi64> = mul %75, %76
#   %78: tile<8x16xi64> = broadcast %77
#   %79: tile<8x16xi64> = add %72, %78
#   %80: tile<8x16xptr<f32>> = splat %66
#   %81: tile<8x16xptr<f32>> = ptr_add %80, %79
#   %82: tile<8xi32> = arange {end=8, start=0}
#   %83: tile<8xi64> = cast %82
#   %84: tile<8x1xi64> = expand_dims %83 {axis=1}
#   %85: i64 = cast %59
#   %86: tile<8x1xi64> = splat %85
#   %87: tile<8x1xi64> = add %84, %86
#   %88: tile<8x1xi64> = const {value=0}
#   %89: tile<8x1xi1> = cmp %87, %88 {pred=ge}
#   %90: tile<8x16xi1> = broadcast %89
#   %91: tile<8x1xi64> = splat %0
#   %92: tile<8x1xi1> = cmp %87, %91 {pred=lt}
#   %93: tile<8x16xi1> = broadcast %92
#   %94: tile<8x16xi1> = and %90, %93
#   %95: tile<16xi32> = arange {end=16, start=0}
#   %96: tile<16xi64> = cast %95
#   %97: tile<1x16xi64> = expand_dims %96 {axis=0}
#   %98: i64 = cast %60
#   %99: tile<1x16xi64> = splat %98
#   %100: tile<1x16xi64> = add %97, %99
#   %101: tile<1x16xi64> = const {value=0}
#   %102: tile<1x16xi1> = cmp %100, %101 {pred=ge}
#   %103: tile<8x16xi1> = broadcast %102
#   %104: tile<8x16xi1> = and %94, %103
#   %105: tile<1x16xi64> = splat %1
#   %106: tile<1x16xi1> = cmp %100, %105 {pred=lt}
#   %107: tile<8x16xi1> = broadcast %106
#   %108: tile<8x16xi1> = and %104, %107
#   store %81, %58, %108
#   return
# }
