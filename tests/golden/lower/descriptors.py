# test: lower arg=x=*f32:16 arg=m=i32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, m, n):
    desc = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[8, 16])
    v = desc.load([tl.program_id(0) * 8, 0])
    desc.store([0, 16], v + desc.block_shape[1])
