# test: lower arg=x=*f32 env=BLOCK=16 env=DTYPE=f16 env=scaled=2.5
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i).to(DTYPE)
    tl.store(x + i, v * scaled)
# --- expected
# kernel @kernel(%x: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %i: tile<16xi32> = arange {end=16, start=0}
#   %0: tile<16xptr<f32>> = splat %x
#   %1: tile<16xptr<f32>> = ptr_add %0, %i
#   %2: tile<16xf32> = load %1
#   %v: tile<16xf16> = cast %2
#   %3: tile<16xptr<f32>> = splat %x
#   %4: tile<16xptr<f32>> = ptr_add %3, %i
#   %5: f16 = const {value=2.5}
#   %6: tile<16xf16> = splat %5
#   %7: tile<16xf16> = mul %v, %6
#   %8: tile<16xf32> = cast %7
#   store %4, %8
#   return
# }
