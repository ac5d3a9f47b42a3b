# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = n.to(tl.float16, bitcast=True)
    b = x.to(tl.float32)
    c = tl.load(x).to(tl.pointer_type(tl.float32))
