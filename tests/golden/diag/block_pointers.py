# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    a = tl.load(p, mask=n > 0)
    b = tl.load(p, boundary_check=(2,))
    c = tl.load(p, padding_option="ones")
    tl.store(p, tl.arange(0, 16))
    d = tl.advance(p, (1,))
    e = tl.advance(x, (1, 2))
    f = tl.make_block_ptr(x, (n,), (n, 1), (0, 0), (16, 16), (1, 0))
    g = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 1))
    h = p + 1
    i = tl.make_block_ptr(n, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
