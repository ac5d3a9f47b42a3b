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
