# test: lower arg=q=*fp8e4nv arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(q, o):
    x = tl.load(q)
    tl.store(o, -x)
    tl.store(o, x + x)
    tl.store(o, x > 1.0)
# --- expected
# kernel @kernel(%q: ptr<f8e4m3>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %x: f8e4m3 = load %q
#   %0: f32 = cast %x
#   %1: f32 = neg %0
#   %2: f8e4m3 = cast %1
#   %3: f32 = cast %2
#   store %o, %3
#   %4: f32 = cast %x
#   %5: f32 = cast %x
#   %6: f32 = add %4, %5
#   %7: f8e4m3 = cast %6
#   %8: f32 = cast %7
#   store %o, %8
#   %9: f8e4m3 = const {value=1.0}
#   %10: f32 = cast %x
#   %11: f32 = cast %9
#   %12: i1 = cmp %10, %11 {pred=gt}
#   %13: f32 = cast %12
#   store %o, %13
#   return
# }
