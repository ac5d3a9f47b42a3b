# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = 0 < n < 5
    b = lambda y: y
    c = [i for i in range(3)]
    d = {"a": 1}
    e = (f := 3)
    g = f(**d)
    h = tl.arange(0, 8)[0]
    k = tl.arange(0, 8)[1:3]
