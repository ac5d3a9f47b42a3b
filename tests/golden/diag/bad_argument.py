# test: diag arg=x=*f32 arg=i=*i8 arg=h=*f16
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, h):
    a = tl.program_id(3)
    b = tl.arange(8, 4)
    c = tl.load(3)
    d = tl.load(x, other=1.0)
    e = tl.load(x, cache_modifier=".xx")
    tl.store(x, 1.0, eviction_policy="evict_never")
    tl.atomic_add(i, 1)
    tl.atomic_max(h, 1.0)
    tl.atomic_add(x, 1.0, sem="strong")
    tl.load(x, boundary_check=(0,))
    f = tl.zeros((4,), 3)
    g = tl.multiple_of(tl.program_id(0), 0)
    for k in range(0, 8, 0):
        pass
    m = tl.maximum(1.0, 2.0, propagate_nan="SOME")
    n = tl.cast(1.5, tl.float16, fp_downcast_rounding="up")
