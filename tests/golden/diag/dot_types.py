# test: diag arg=h=*f16 arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(h, x):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    a = tl.load(h + at)
    s = tl.load(x + at)
    b = tl.dot(a, s)
    c = tl.dot(a, a, acc=at)
    d = tl.dot(a, a, out_dtype=tl.bfloat16)
    e = tl.dot(s, s, input_precision="exact")
    f = tl.dot(s, s, allow_tf32=True, input_precision="ieee")
    g = tl.dot(at, at)
