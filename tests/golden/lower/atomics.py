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
