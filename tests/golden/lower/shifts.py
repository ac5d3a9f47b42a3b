# test: lower arg=a=*i32 arg=b=*u32 arg=o=*i32
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, o):
    i = tl.load(a)
    u = tl.load(b)
    tl.store(o, i >> 3)
    tl.store(o, u >> 3)
    tl.store(o, i >> u)
    tl.store(o, u >> i)
    tl.store(o, 1 << i)
# --- expected
# kernel @kernel(%a: ptr<i32>, %b: ptr<u32>, %o: ptr<i32>) attributes {num_stages=3, num_warps=4} {
#   %i: i32 = load %a
#   %u: u32 = load %b
#   %0: i32 = const {value=3}
#   %1: i32 = shr %i, %0
#   store %o, %1
#   %2: u32 = const {value=3}
#   %3: u32 = shr %u, %2
#   %4: i32 = cast %3
#   store %o, %4
#   %5: u32 = cast %i
#   %6: i32 = cast %5
#   %7: i32 = cast %u
#   %8: i32 = shr %6, %7
#   %9: u32 = cast %8
#   %10: i32 = cast %9
#   store %o, %10
#   %11: u32 = cast %i
#   %12: u32 = shr %u, %11
#   %13: i32 = cast %12
#   store %o, %13
#   %14: i32 = const {value=1}
#   %15: i32 = shl %14, %i
#   store %o, %15
#   return
# }
