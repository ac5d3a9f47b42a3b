# test: lower arg=x=*f32 arg=i=*i32 arg=h=*f16
import triton
import triton.language as tl


@triton.jit
def kernel(x, i, h):
    v = tl.load(x)
    bits = v.to(tl.int32, bitcast=True)
    tl.store(i, bits)
    tl.store(i, v)
    tl.store(h, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(h, v.to(tl.float8e4nv))
    tl.store(i, (v > 0).to(tl.int8))
    address = x.to(tl.int64)
    q = (address + 4).to(tl.pointer_type(tl.int32))
    tl.store(q, tl.cast(v, tl.int1))
    tl.store(q, tl.cast(3, tl.int64))
