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
