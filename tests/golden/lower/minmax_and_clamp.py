# test: lower arg=h=*f16 arg=r=*bf16 arg=i=*u8 arg=o=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(h, r, i, o):
    half = tl.load(h)
    brain = tl.load(r)
    byte = tl.load(i)
    tl.store(o, tl.maximum(half, 0.0))
    tl.store(o, tl.minimum(half, half))
    tl.store(o, tl.maximum(brain, brain))
    tl.store(o, tl.maximum(byte, byte))
    tl.store(o, tl.clamp(half, 0.0, 1.0))
    tl.store(o, tl.maximum(half, half, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o, min(byte, 3) + max(1, 2, 3))
# --- expected
# kernel @kernel(%h: ptr<f16>, %r: ptr<bf16>, %i: ptr<u8>, %o: ptr<f32>) attributes {num_stages=3, num_warps=4} {
#   %half: f16 = load %h
#   %brain: bf16 = load %r
#   %byte: u8 = load %i
#   %0: f32 = const {value=0.0}
#   %1: f32 = cast %half
#   %2: f32 = max %1, %0
#   store %o, %2
#   %3: f16 = min %half, %half
#   %4: f32 = cast %3
#   store %o, %4
#   %5: f32 = cast %brain
#   %6: f32 = cast %brain
#   %7: f32 = max %5, %6
#   store %o, %7
#   %8: u8 = max %byte, %byte
#   %9: f32 = cast %8
#   store %o, %9
#   %10: f32 = const {value=0.0}
#   %11: f32 = const {value=1.0}
#   %12: f32 = cast %half
#   %13: f32 = max %12, %10
#   %14: f32 = min %13, %11
#   store %o, %14
#   %15: f16 = max %half, %half {nan=propagate}
#   %16: f32 = cast %15
#   store %o, %16
#   %17: i32 = const {value=3}
#   %18: i32 = cast %byte
#   %19: i32 = min %18, %17
#   %20: i32 = const {value=3}
#   %21: i32 = add %19, %20
#   %22: f32 = cast %21
#   store %o, %22
#   return
# }
