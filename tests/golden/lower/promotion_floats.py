# test: lower arg=a=*f16 arg=b=*bf16 arg=c=*f32 arg=d=*i32 arg=e=*f64 arg=o=*f64
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, e, o):
    h = tl.load(a)
    r = tl.load(b)
    s = tl.load(c)
    i = tl.load(d)
    w = tl.load(e)
    half_times_brain = h * r
    brain_times_int = r * i
    brain_times_brain = r * r
    half_times_single = h * s
    half_over_half = h / h
    brain_mod_brain = r % r
    int_over_int = i / i
    single_plus_double = s + w
    int_plus_float_number = i + 1.0
    tl.store(o, half_times_brain + brain_times_int + brain_times_brain + half_times_single)
    tl.store(o, half_over_half + brain_mod_brain + int_over_int + single_plus_double)
    tl.store(o, int_plus_float_number)
# --- expected
# kernel @kernel(%a: ptr<f16>, %b: ptr<bf16>, %c: ptr<f32>, %d: ptr<i32>, %e: ptr<f64>, %o: ptr<f64>) attributes {num_stages=3, num_warps=4} {
#   %h: f16 = load %a
#   %r: bf16 = load %b
#   %s: f32 = load %c
#   %i: i32 = load %d
#   %w: f64 = load %e
#   %0: f16 = cast %r
#   %half_times_brain: f16 = mul %h, %0
#   %1: f32 = cast %r
#   %2: f32 = cast %i
#   %brain_times_int: f32 = mul %1, %2
#   %brain_times_brain: bf16 = mul %r, %r
#   %3: f32 = cast %h
#   %half_times_single: f32 = mul %3, %s
#   %4: f32 = cast %h
#   %5: f32 = cast %h
#   %half_over_half: f32 = div %4, %5
#   %6: f32 = cast %r
#   %7: f32 = cast %r
#   %brain_mod_brain: f32 = rem %6, %7
#   %8: f32 = cast %i
#   %9: f32 = cast %i
#   %int_over_int: f32 = div %8, %9
#   %10: f64 = cast %s
#   %single_plus_double: f64 = add %10, %w
#   %11: f32 = cast %i
#   %12: f32 = const {value=1.0}
#   %int_plus_float_number: f32 = add %11, %12
#   %13: f32 = cast %half_times_brain
#   %14: f32 = add %13, %brain_times_int
#   %15: f32 = cast %brain_times_brain
#   %16: f32 = add %14, %15
#   %17: f32 = add %16, %half_times_single
#   %18: f64 = cast %17
#   store %o, %18
#   %19: f32 = add %half_over_half, %brain_mod_brain
#   %20: f32 = add %19, %int_over_int
#   %21: f64 = cast %20
#   %22: f64 = add %21, %single_plus_double
#   store %o, %22
#   %23: f64 = cast %int_plus_float_number
#   store %o, %23
#   return
# }
