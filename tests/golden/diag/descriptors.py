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
# --- expected
# descriptors.py:7:46: error: the last stride of a tensor descriptor is 1, not 2 [bad-argument]
#       d = tl.make_tensor_descriptor(x, [n, n], [n, 2], [8, 8])
#                                                ^~~~~~
# descriptors.py:9:17: error: a tensor descriptor is read with its method: desc.load([offsets]) [bad-argument]
#       a = tl.load(e)
#                   ^
# descriptors.py:10:16: error: argument 'offsets' of 'e.load' has 1 entries, but the block has 2 dimensions [shape-mismatch]
#       b = e.load([0])
#                  ^~~
# descriptors.py:11:21: error: the value is float32[4, 4], but the block is [8, 8] [shape-mismatch]
#       e.store([0, 0], tl.zeros((4, 4), tl.float32))
#                       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
# descriptors.py:12:9: error: 'block.gather' (reads rows by index through a descriptor) is not supported yet [unsupported-builtin]
#       c = e.gather(tl.arange(0, 8), 0)
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
