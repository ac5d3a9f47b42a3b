# test: diag arg=x=*f32 arg=h=*f16 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, h, n):
    a = tl.sigmoid(tl.load(h))
    b = tl.softmax(n)
    c = tl.rand(n, "offset")
