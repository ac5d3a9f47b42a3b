# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 2], [8, 8])
    e = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 8])
    a = tl.load(e)
    b = e.load([0])
    e.store([0, 0], tl.zeros((4, 4), tl.float32))
    c = e.gather(tl.arange(0, 8), 0)
