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
# --- expected
# kernel @kernel(%x: ptr<f32>, %i: ptr<i32>, %h: ptr<f16>) attributes {num_stages=3, num_warps=4} {
#   %v: f32 = load %x
#   %bits: i32 = bitcast %v
#   store %i, %bits
#   %0: i32 = cast %v
#   store %i, %0
#   %1: f16 = cast %v {rounding=rtz}
#   store %h, %1
#   %2: f8e4m3 = cast %v
#   %3: f16 = cast %2
#   store %h, %3
#   %4: f32 = const {value=0.0}
#   %5: i1 = cmp %v, %4 {pred=gt}
#   %6: i8 = cast %5
#   %7: i32 = cast %6
#   store %i, %7
#   %address: i64 = cast %x
#   %8: i64 = const {value=4}
#   %9: i64 = add %address, %8
#   %q: ptr<i32> = cast %9
#   %10: i1 = cast %v
#   %11: i32 = cast %10
#   store %q, %11
#   %12: i64 = const {value=3}
#   %13: i32 = cast %12
#   store %q, %13
#   return
# }
