# test: lower arg=a=*i8 arg=b=*u8 arg=c=*i16 arg=d=*u32 arg=e=*i64 arg=f=*i1 arg=o=*i64
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, e, f, o):
    i8 = tl.load(a)
    u8 = tl.load(b)
    i16 = tl.load(c)
    u32 = tl.load(d)
    i64 = tl.load(e)
    i1 = tl.load(f)
    wraps = i8 + i8
    stays = i8 + 1
    one = 1
    widens = i8 + one
    same_width = i8 + u8
    wider_signed = u8 + i16
    unsigned = u32 + one
    widest = u32 + i64
    flag = i1 + i8
    masked = u8 & 0xF
    tl.store(o, wraps + stays + same_width)
    tl.store(o, widens + wider_signed + unsigned)
    tl.store(o, widest + flag + masked)
# --- expected
# kernel @kernel(%a: ptr<i8>, %b: ptr<u8>, %c: ptr<i16>, %d: ptr<u32>, %e: ptr<i64>, %f: ptr<i1>, %o: ptr<i64>) attributes {num_stages=3, num_warps=4} {
#   %i8: i8 = load %a
#   %u8: u8 = load %b
#   %i16: i16 = load %c
#   %u32: u32 = load %d
#   %i64: i64 = load %e
#   %i1: i1 = load %f
#   %wraps: i8 = add %i8, %i8
#   %0: i8 = const {value=1}
#   %stays: i8 = add %i8, %0
#   %one: i32 = const {value=1}
#   %1: i32 = cast %i8
#   %widens: i32 = add %1, %one
#   %2: u8 = cast %i8
#   %same_width: u8 = add %2, %u8
#   %3: i16 = cast %u8
#   %wider_signed: i16 = add %3, %i16
#   %4: u32 = cast %one
#   %unsigned: u32 = add %u32, %4
#   %5: i64 = cast %u32
#   %widest: i64 = add %5, %i64
#   %6: i8 = cast %i1
#   %flag: i8 = add %6, %i8
#   %7: u8 = const {value=15}
#   %masked: u8 = and %u8, %7
#   %8: i8 = add %wraps, %stays
#   %9: u8 = cast %8
#   %10: u8 = add %9, %same_width
#   %11: i64 = cast %10
#   store %o, %11
#   %12: i32 = cast %wider_signed
#   %13: i32 = add %widens, %12
#   %14: u32 = cast %13
#   %15: u32 = add %14, %unsigned
#   %16: i64 = cast %15
#   store %o, %16
#   %17: i64 = cast %flag
#   %18: i64 = add %widest, %17
#   %19: i64 = cast %masked
#   %20: i64 = add %18, %19
#   store %o, %20
#   return
# }
