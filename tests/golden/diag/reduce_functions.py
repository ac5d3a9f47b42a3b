# test: diag arg=x=*f32
import triton
import triton.language as tl

@triton.jit
def loads(a, b):
    return a + b + tl.load(tl.cast(0, tl.int64).to(tl.pointer_type(tl.float32)))


@triton.jit
def wrong_type(a, b):
    return a > b


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    a = tl.reduce(v, 0, loads)
    b = tl.reduce(v, 0, wrong_type)
    c = tl.reduce(v, 0, 3)
    d = tl.sum(x)
    e = tl.xor_sum(v)
