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
