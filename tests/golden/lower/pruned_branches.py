# test: lower arg=x=*f32 const=bias=None const=BLOCK=16 const=MODE=gelu
import triton
import triton.language as tl


@triton.jit
def kernel(x, bias, BLOCK: tl.constexpr, MODE: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    v = tl.load(x + offsets)
    if bias is not None:
        v += tl.load(bias + offsets)
    if MODE == "relu":
        v = tl.maximum(v, 0.0)
    elif MODE == "gelu" and BLOCK > 8:
        v = v * 0.5
    else:
        v = not_a_name(v)
    kind: tl.constexpr = "wide" if BLOCK >= 16 else "narrow"
    if kind == "wide":
        v = -v
    tl.store(x + offsets, v)
# --- expected
# kernel @kernel(%x: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %offsets: tile<16xi32> = arange {end=16, start=0}
#   %0: tile<16xptr<f32>> = splat %x
#   %1: tile<16xptr<f32>> = ptr_add %0, %offsets
#   %v: tile<16xf32> = load %1
#   %2: f32 = const {value=0.5}
#   %3: tile<16xf32> = splat %2
#   %v.1: tile<16xf32> = mul %v, %3
#   %v.2: tile<16xf32> = neg %v.1
#   %4: tile<16xptr<f32>> = splat %x
#   %5: tile<16xptr<f32>> = ptr_add %4, %offsets
#   store %5, %v.2
#   return
# }
