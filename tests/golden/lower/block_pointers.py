# test: lower arg=x=*f16:16 arg=y=*f16:16 arg=m=i32 arg=n=i32 arg=stride=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, m, n, stride):
    p = tl.make_block_ptr(x, (m, n), (stride, 1), (tl.program_id(0) * 16, 0), (16, 32), (1, 0))
    total = tl.zeros((16, 32), tl.float32)
    for _ in range(0, n, 32):
        total += tl.load(p, boundary_check=(0, 1), padding_option="zero")
        p = tl.advance(p, (0, 32))
    q = tl.make_block_ptr(base=y, shape=(m,), strides=(1,), offsets=(16,), block_shape=(16,), order=(0,))
    tl.store(q, tl.sum(total, 1).to(q.dtype.element_ty), boundary_check=(0,))
