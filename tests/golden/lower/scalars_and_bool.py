# test: lower arg=flags=*i1 arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(flags, x, n):
    on = tl.load(flags)
    value = tl.load(x, mask=on, other=2.0)
    tl.store(x, value, mask=n > 0)
    tl.store(flags, n)
# --- expected
# kernel @kernel(%flags: ptr<i1>, %x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %on: i1 = load %flags
#   %0: f32 = const {value=2.0}
#   %value: f32 = load %x, %on, %0
#   %1: i32 = const {value=0}
#   %2: i1 = cmp %n, %1 {pred=gt}
#   store %x, %value, %2
#   %3: i1 = cast %n
#   store %flags, %3
#   return
# }
