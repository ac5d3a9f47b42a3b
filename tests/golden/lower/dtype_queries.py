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
# --- expected
# kernel @kernel(%x: ptr<bf16>, %o: ptr<i32>) attributes {num_stages=3, num_warps=4} {
#   %0: tile<8xi32> = arange {end=8, start=0}
#   %1: tile<8xptr<bf16>> = splat %x
#   %2: tile<8xptr<bf16>> = ptr_add %1, %0
#   %v: tile<8xbf16> = load %2
#   %3: i32 = const {value=18}
#   store %o, %3
#   %4: tile<8xi32> = arange {end=8, start=0}
#   %5: tile<8xptr<i32>> = splat %o
#   %6: tile<8xptr<i32>> = ptr_add %5, %4
#   %7: tile<8xi16> = bitcast %v
#   %8: tile<8xi32> = cast %7
#   store %6, %8
#   return
# }
