# test: lower arg=x=*f32 const=stride=1 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, stride, n):
    if stride == 1:
        p = x + tl.arange(0, 16)
    else:
        p = x + tl.arange(0, 16) * stride + undefined_name
    for i in range(n):
        stride += i
    tl.store(p, stride)
