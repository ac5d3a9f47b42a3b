# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def clipped(v, low=0.0, high=1.0):
    """Two results, by two ways out."""
    if v < low:
        return v * 0 + low, 1
    if v > high:
        return v * 0 + high, 2
    return v, 3


@triton.jit
def choose(n):
    if n > 5:
        if n > 7:
            return 70
        n = n + 1
    return n


@triton.jit
def kernel(x, n):
    v, k = clipped(tl.load(x), high=3.0)
    w, _ = clipped(v, 1.0, 2.0)
    tl.store(x, w + k + choose(n))
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: f32 = load %x
#   %1: f32 = const {value=0.0}
#   %2: i1 = cmp %0, %1 {pred=lt}
#   %v: f32, %k: i32 = if %2 region() {
#     %3: f32 = const {value=0.0}
#     %4: f32 = mul %0, %3
#     %5: f32 = const {value=0.0}
#     %6: f32 = add %4, %5
#     %7: i32 = const {value=1}
#     yield %6, %7
#   } region() {
#     %8: f32 = const {value=3.0}
#     %9: i1 = cmp %0, %8 {pred=gt}
#     %10: f32, %11: i32 = if %9 region() {
#       %12: f32 = const {value=0.0}
#       %13: f32 = mul %0, %12
#       %14: f32 = const {value=3.0}
#       %15: f32 = add %13, %14
#       %16: i32 = const {value=2}
#       yield %15, %16
#     } region() {
#       %17: i32 = const {value=3}
#       yield %0, %17
#     }
#     yield %10, %11
#   }
#   %18: f32 = const {value=1.0}
#   %19: i1 = cmp %v, %18 {pred=lt}
#   %w: f32, %_: i32 = if %19 region() {
#     %20: f32 = const {value=0.0}
#     %21: f32 = mul %v, %20
#     %22: f32 = const {value=1.0}
#     %23: f32 = add %21, %22
#     %24: i32 = const {value=1}
#     yield %23, %24
#   } region() {
#     %25: f32 = const {value=2.0}
#     %26: i1 = cmp %v, %25 {pred=gt}
#     %27: f32, %28: i32 = if %26 region() {
#       %29: f32 = const {value=0.0}
#       %30: f32 = mul %v, %29
#       %31: f32 = const {value=2.0}
#       %32: f32 = add %30, %31
#       %33: i32 = const {value=2}
#       yield %32, %33
#     } region() {
#       %34: i32 = const {value=3}
#       yield %v, %34
#     }
#     yield %27, %28
#   }
#   %35: f32 = cast %k
#   %36: f32 = add %w, %35
#   %37: i32 = const {value=5}
#   %38: i1 = cmp %n, %37 {pred=gt}
#   %39: i32 = if %38 region() {
#     %40: i32 = const {value=7}
#     %41: i1 = cmp %n, %40 {pred=gt}
#     %42: i32 = if %41 region() {
#       %43: i32 = const {value=70}
#       yield %43
#     } region() {
#       %44: i32 = const {value=1}
#       %n.1: i32 = add %n, %44
#       yield %n.1
#     }
#     yield %42
#   } region() {
#     yield %n
#   }
#   %45: f32 = cast %39
#   %46: f32 = add %36, %45
#   store %x, %46
#   return
# }
