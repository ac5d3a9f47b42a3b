# test: lower debug=1 arg=x=*f32 arg=n=i32 const=N=4
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, N: tl.constexpr):
    assert N % 4 == 0, "N is a multiple of 4"
    tl.static_assert(N > 0, f"N is {N}")
    tl.device_assert(n > 0, "n is positive")
    assert n < 100
    tl.store(x, n)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = const {value=0}
#   %1: i1 = cmp %n, %0 {pred=gt}
#   assert %1 {message="n is positive"}
#   %2: i32 = const {value=100}
#   %3: i1 = cmp %n, %2 {pred=lt}
#   assert %3 {message=""}
#   %4: f32 = cast %n
#   store %x, %4
#   return
# }
