# test: lower arg=p=*i32 arg=f=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(p, f):
    i = tl.arange(0, 8)
    old = tl.atomic_add(p + i, 1, mask=i < 5, sem="relaxed", scope="cta")
    tl.atomic_max(f + i, old)
    tl.atomic_xchg(p, 0)
    while tl.atomic_cas(p, 0, 1) == 1:
        pass
    tl.debug_barrier()
# --- expected
# kernel @kernel(%p: ptr<i32>, %f: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %i: tile<8xi32> = arange {end=8, start=0}
#   %0: tile<8xptr<i32>> = splat %p
#   %1: tile<8xptr<i32>> = ptr_add %0, %i
#   %2: i32 = const {value=5}
#   %3: tile<8xi32> = splat %2
#   %4: tile<8xi1> = cmp %i, %3 {pred=lt}
#   %5: i32 = const {value=1}
#   %6: tile<8xi32> = splat %5
#   %old: tile<8xi32> = atomic_rmw %1, %6, %4 {op=add, scope=cta, sem=relaxed}
#   %7: tile<8xptr<f32>> = splat %f
#   %8: tile<8xptr<f32>> = ptr_add %7, %i
#   %9: tile<8xf32> = cast %old
#   %10: tile<8xf32> = atomic_rmw %8, %9 {op=max}
#   %11: i32 = const {value=0}
#   %12: i32 = atomic_rmw %p, %11 {op=xchg}
#   while region() {
#     %13: i32 = const {value=0}
#     %14: i32 = const {value=1}
#     %15: i32 = atomic_cas %p, %13, %14
#     %16: i32 = const {value=1}
#     %17: i1 = cmp %15, %16 {pred=eq}
#     condition %17
#   } region() {
#     yield
#   }
#   barrier
#   return
# }
