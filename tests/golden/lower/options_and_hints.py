# test: lower arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    i = tl.max_contiguous(tl.multiple_of(n * 16 + tl.arange(0, 16), 16), 16)
    tl.assume(n >= 0)
    v = tl.load(x + i, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    tl.store(x + i, v, cache_modifier=".wt", eviction_policy="evict_first")
    tl.static_print("n is", n)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32) attributes {num_stages=3, num_warps=4} {
#   %0: i32 = const {value=16}
#   %1: i32 = mul %n, %0
#   %2: tile<16xi32> = arange {end=16, start=0}
#   %3: tile<16xi32> = splat %1
#   %4: tile<16xi32> = add %3, %2
#   %5: tile<16xi32> = hint %4 {kind=multiple_of, values=[16]}
#   %i: tile<16xi32> = hint %5 {kind=max_contiguous, values=[16]}
#   %6: i32 = const {value=0}
#   %7: i1 = cmp %n, %6 {pred=ge}
#   assume %7
#   %8: tile<16xptr<f32>> = splat %x
#   %9: tile<16xptr<f32>> = ptr_add %8, %i
#   %v: tile<16xf32> = load %9 {cache=cg, evict=last, volatile=1}
#   %10: tile<16xptr<f32>> = splat %x
#   %11: tile<16xptr<f32>> = ptr_add %10, %i
#   store %11, %v {cache=wt, evict=first}
#   return
# }
