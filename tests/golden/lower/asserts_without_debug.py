# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.device_assert(n > 0, "n is positive")
    tl.store(x, n)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = const {value=0}
#   %1: i1 = cmp %n, %0 {pred=gt}
#   %2: f32 = cast %n
#   store %x, %2
#   return
# }
