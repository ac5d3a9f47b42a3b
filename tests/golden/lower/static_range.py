# test: lower arg=x=*f32 const=N=3
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    total = 0.0
    for i in tl.static_range(N):
        scale: tl.constexpr = 2**i
        if i != 1:
            total += tl.load(x + i) * scale
    for j in tl.static_range(4, 0, -2):
        total += j
    tl.store(x, total)
# --- expected
# kernel @kernel(%x: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %total: f32 = const {value=0.0}
#   %0: i32 = const {value=0}
#   %1: ptr<f32> = ptr_add %x, %0
#   %2: f32 = load %1
#   %3: f32 = const {value=1.0}
#   %4: f32 = mul %2, %3
#   %total.1: f32 = add %total, %4
#   %5: i32 = const {value=2}
#   %6: ptr<f32> = ptr_add %x, %5
#   %7: f32 = load %6
#   %8: f32 = const {value=4.0}
#   %9: f32 = mul %7, %8
#   %total.2: f32 = add %total.1, %9
#   %10: f32 = const {value=4.0}
#   %total.3: f32 = add %total.2, %10
#   %11: f32 = const {value=2.0}
#   %total.4: f32 = add %total.3, %11
#   store %x, %total.4
#   return
# }
