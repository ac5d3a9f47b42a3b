# test: lower arg=x=*f16:16 arg=y=*f16:16 arg=m=i32 arg=n=i32 arg=stride=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, m, n, stride):
    p = tl.make_block_ptr(x, (m, n), (stride, 1), (tl.program_id(0) * 16, 0), (16, 32), (1, 0))
    total = tl.zeros((16, 32), tl.float32)
    for _ in range(0, n, 32):
        total += tl.load(p, boundary_check=(0, 1), padding_option="zero")
        p = tl.advance(p, (0, 32))
    q = tl.make_block_ptr(base=y, shape=(m,), strides=(1,), offsets=(16,), block_shape=(16,), order=(0,))
    tl.store(q, tl.sum(total, 1).to(q.dtype.element_ty), boundary_check=(0,))
# --- expected
# kernel @kernel(%x: ptr<f16> {div=16}, %y: ptr<f16> {div=16}, %m: i32, %n: i32, %stride: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = program_id {axis=0}
#   %1: i32 = const {value=16}
#   %2: i32 = mul %0, %1
#   %3: i64 = cast %m
#   %4: i64 = cast %n
#   %5: i64 = cast %stride
#   %6: i64 = const {value=1}
#   %7: i32 = const {value=0}
#   %total: tile<16x32xf32> = const {value=0.0}
#   %8: i32 = const {value=0}
#   %9: i32 = const {value=32}
#   %10: i32, %total.1: tile<16x32xf32> = for %8, %n, %9, %7, %total region(%_: i32, %11: i32, %total.2: tile<16x32xf32>) {
#     %12: i64 = cast %2
#     %13: i64 = mul %12, %5
#     %14: ptr<f16> = ptr_add %x, %13
#     %15: i64 = cast %11
#     %16: i64 = mul %15, %6
#     %17: ptr<f16> = ptr_add %14, %16
#     %18: tile<16xi32> = arange {end=16, start=0}
#     %19: tile<16xi64> = cast %18
#     %20: tile<16x1xi64> = expand_dims %19 {axis=1}
#     %21: tile<16x1xi64> = splat %5
#     %22: tile<16x1xi64> = mul %20, %21
#     %23: tile<16x32xi64> = broadcast %22
#     %24: tile<32xi32> = arange {end=32, start=0}
#     %25: tile<32xi64> = cast %24
#     %26: tile<1x32xi64> = expand_dims %25 {axis=0}
#     %27: tile<1x32xi64> = splat %6
#     %28: tile<1x32xi64> = mul %26, %27
#     %29: tile<16x32xi64> = broadcast %28
#     %30: tile<16x32xi64> = add %23, %29
#     %31: tile<16x32xptr<f16>> = splat %17
#     %32: tile<16x32xptr<f16>> = ptr_add %31, %30
#     %33: tile<16xi32> = arange {end=16, start=0}
#     %34: tile<16xi64> = cast %33
#     %35: tile<16x1xi64> = expand_dims %34 {axis=1}
#     %36: i64 = cast %2
#     %37: tile<16x1xi64> = splat %36
#     %38: tile<16x1xi64> = add %35, %37
#     %39: tile<16x1xi64> = const {value=0}
#     %40: tile<16x1xi1> = cmp %38, %39 {pred=ge}
#     %41: tile<16x32xi1> = broadcast %40
#     %42: tile<16x1xi64> = splat %3
#     %43: tile<16x1xi1> = cmp %38, %42 {pred=lt}
#     %44: tile<16x32xi1> = broadcast %43
#     %45: tile<16x32xi1> = and %41, %44
#     %46: tile<32xi32> = arange {end=32, start=0}
#     %47: tile<32xi64> = cast %46
#     %48: tile<1x32xi64> = expand_dims %47 {axis=0}
#     %49: i64 = cast %11
#     %50: tile<1x32xi64> = splat %49
#     %51: tile<1x32xi64> = add %48, %50
#     %52: tile<1x32xi64> = const {value=0}
#     %53: tile<1x32xi1> = cmp %51, %52 {pred=ge}
#     %54: tile<16x32xi1> = broadcast %53
#     %55: tile<16x32xi1> = and %45, %54
#     %56: tile<1x32xi64> = splat %4
#     %57: tile<1x32xi1> = cmp %51, %56 {pred=lt}
#     %58: tile<16x32xi1> = broadcast %57
#     %59: tile<16x32xi1> = and %55, %58
#     %60: tile<16x32xf16> = load %32, %59
#     %61: tile<16x32xf32> = cast %60
#     %total.3: tile<16x32xf32> = add %total.2, %61
#     %62: i32 = const {value=0}
#     %63: i32 = const {value=32}
#     %64: i32 = add %11, %63
#     yield %64, %total.3
#   }
#   %65: i64 = cast %m
#   %66: i64 = const {value=1}
#   %67: i32 = const {value=16}
#   %68: tile<16xf32> = reduce %total.1 {axis=1} region(%69: f32, %70: f32) {
#     %71: f32 = add %69, %70
#     yield %71
#   }
#   %72: tile<16xf16> = cast %68
#   %73: i64 = cast %67
#   %74: i64 = mul %73, %66
#   %75: ptr<f16> = ptr_add %y, %74
#   %76: tile<16xi32> = arange {end=16, start=0}
#   %77: tile<16xi64> = cast %76
#   %78: tile<16xi64> = splat %66
#   %79: tile<16xi64> = mul %77, %78
#   %80: tile<16xptr<f16>> = splat %75
#   %81: tile<16xptr<f16>> = ptr_add %80, %79
#   %82: tile<16xi32> = arange {end=16, start=0}
#   %83: tile<16xi64> = cast %82
#   %84: i64 = cast %67
#   %85: tile<16xi64> = splat %84
#   %86: tile<16xi64> = add %83, %85
#   %87: tile<16xi64> = const {value=0}
#   %88: tile<16xi1> = cmp %86, %87 {pred=ge}
#   %89: tile<16xi64> = splat %65
#   %90: tile<16xi1> = cmp %86, %89 {pred=lt}
#   %91: tile<16xi1> = and %88, %90
#   store %81, %72, %91
#   return
# }
