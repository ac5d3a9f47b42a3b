# test: lower arg=x=*bf16 arg=o=*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    v = tl.load(x + tl.arange(0, 8))
    kind: tl.constexpr = x.dtype.element_ty
    if kind.is_bf16() and kind.primitive_bitwidth == 16 and not kind.is_fp8():
        if v.dtype == tl.bfloat16 and v.type.scalar == x.dtype.element_ty:
            tl.store(o, v.numel + v.shape[0] + v.dtype.itemsize)
    if isinstance(v, tl.tensor) and isinstance(8, int) and x.dtype.is_ptr():
        same: tl.constexpr = tl.get_int_dtype(bitwidth=v.dtype.primitive_bitwidth, signed=True)
        tl.store(o + tl.arange(0, 8), v.to(same, bitcast=True))
    if v.dtype == tl.float8e4b15:
        undefined
