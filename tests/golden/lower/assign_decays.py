# test: lower arg=x=*f16 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    h = tl.load(x)
    eps = 1e-5
    tl.store(o, h + 1e-5)
    tl.store(o, h + eps)
# --- expected
# kernel @kernel(%x: ptr<f16>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %h: f16 = load %x
#   %eps: f32 = const {value=9.999999747378752e-06}
#   %0: f16 = const {value=1.0013580322265625e-05}
#   %1: f16 = add %h, %0
#   %2: f32 = cast %1
#   store %o, %2
#   %3: f32 = cast %h
#   %4: f32 = add %3, %eps
#   store %o, %4
#   return
# }
