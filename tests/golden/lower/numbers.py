# test: lower arg=o=*f64
import triton
import triton.language as tl


@triton.jit
def kernel(o):
    small = 1
    unsigned = 3000000000
    wide = 5000000000
    top = 0xFFFFFFFFFFFFFFFF
    single = 1.5
    tiny = 1e-40
    huge = 1e300
    infinite = float("inf")
    flag = True
    tl.store(o, small)
    tl.store(o, unsigned)
    tl.store(o, wide)
    tl.store(o, top)
    tl.store(o, single)
    tl.store(o, tiny)
    tl.store(o, huge)
    tl.store(o, -infinite)
    tl.store(o, flag)
# --- expected
# kernel @kernel(%o: ptr<f64>) attributes {num_stages=3, num_warps=4} {
#   %small: i32 = const {value=1}
#   %unsigned: u32 = const {value=3000000000}
#   %wide: i64 = const {value=5000000000}
#   %top: u64 = const {value=-1}
#   %single: f32 = const {value=1.5}
#   %tiny: f64 = const {value=1e-40}
#   %huge: f64 = const {value=1e+300}
#   %infinite: f32 = const {value=inf}
#   %flag: i1 = const {value=1}
#   %0: f64 = cast %small
#   store %o, %0
#   %1: f64 = cast %unsigned
#   store %o, %1
#   %2: f64 = cast %wide
#   store %o, %2
#   %3: f64 = cast %top
#   store %o, %3
#   %4: f64 = cast %single
#   store %o, %4
#   store %o, %tiny
#   store %o, %huge
#   %5: f32 = neg %infinite
#   %6: f64 = cast %5
#   store %o, %6
#   %7: f64 = cast %flag
#   store %o, %7
#   return
# }
