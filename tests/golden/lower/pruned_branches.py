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
