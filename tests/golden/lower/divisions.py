# test: lower arg=a=*i32 arg=b=*f32 arg=o=*f32 const=N=-7
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, o, N: tl.constexpr):
    i = tl.load(a)
    f = tl.load(b)
    tl.store(o, i // 4)
    tl.store(o, i % 4)
    tl.store(o, f % 2.0)
    tl.store(o, N // 2)
    tl.store(o, N % 4)
    tl.store(o, N / 2)
# --- expected
# kernel @kernel(%a: ptr<i32>, %b: ptr<f32>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %i: i32 = load %a
#   %f: f32 = load %b
#   %0: i32 = const {value=4}
#   %1: i32 = div %i, %0
#   %2: f32 = cast %1
#   store %o, %2
#   %3: i32 = const {value=4}
#   %4: i32 = rem %i, %3
#   %5: f32 = cast %4
#   store %o, %5
#   %6: f32 = const {value=2.0}
#   %7: f32 = rem %f, %6
#   store %o, %7
#   %8: f32 = const {value=-4.0}
#   store %o, %8
#   %9: f32 = const {value=1.0}
#   store %o, %9
#   %10: f32 = const {value=-3.5}
#   store %o, %10
#   return
# }
