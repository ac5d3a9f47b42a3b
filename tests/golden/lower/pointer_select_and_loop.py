# test: lower arg=x=*f32 arg=y=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n):
    p = tl.where(n > 0, x, y)
    q = x if n > 1 else y
    for i in range(n):
        p += 4
        tl.store(p - 1, tl.load(q + i.to(tl.uint32)))
# --- expected
# kernel @kernel(%x: ptr<f32>, %y: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = const {value=0}
#   %1: i1 = cmp %n, %0 {pred=gt}
#   %p: ptr<f32> = select %1, %x, %y
#   %2: i32 = const {value=1}
#   %3: i1 = cmp %n, %2 {pred=gt}
#   %q: ptr<f32> = if %3 region() {
#     yield %x
#   } region() {
#     yield %y
#   }
#   %4: i32 = const {value=0}
#   %5: i32 = const {value=1}
#   %p.1: ptr<f32> = for %4, %n, %5, %p region(%i: i32, %p.2: ptr<f32>) {
#     %6: i32 = const {value=4}
#     %p.3: ptr<f32> = ptr_add %p.2, %6
#     %7: i32 = const {value=-1}
#     %8: ptr<f32> = ptr_add %p.3, %7
#     %9: u32 = cast %i
#     %10: ptr<f32> = ptr_add %q, %9
#     %11: f32 = load %10
#     store %8, %11
#     yield %p.3
#   }
#   return
# }
