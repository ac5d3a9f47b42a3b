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
# --- expected
# block_pointers.py:8:25: error: a block pointer takes no 'mask'; use boundary_check and padding_option [bad-argument]
#       a = tl.load(p, mask=n > 0)
#                           ^~~~~
# block_pointers.py:9:35: error: boundary_check names dimension 2, but the block has dimensions 0 to 1 [shape-mismatch]
#       b = tl.load(p, boundary_check=(2,))
#                                     ^~~~
# block_pointers.py:10:35: error: padding_option is 'zero' or 'nan', not 'ones' [bad-argument]
#       c = tl.load(p, padding_option="ones")
#                                     ^~~~~~
# block_pointers.py:11:17: error: the value is int32[16], but the block is [16, 16] [shape-mismatch]
#       tl.store(p, tl.arange(0, 16))
#                   ^~~~~~~~~~~~~~~~
# block_pointers.py:12:23: error: argument 'offsets' of 'tl.advance' has 1 entries, but the block has 2 dimensions [shape-mismatch]
#       d = tl.advance(p, (1,))
#                         ^~~~
# block_pointers.py:13:20: error: tl.advance moves a block pointer, but this is pointer<float32> [bad-argument]
#       e = tl.advance(x, (1, 2))
#                      ^
# block_pointers.py:14:30: error: argument 'shape' of 'tl.make_block_ptr' has 1 entries, but the block has 2 dimensions [shape-mismatch]
#       f = tl.make_block_ptr(x, (n,), (n, 1), (0, 0), (16, 16), (1, 0))
#                                ^~~~
# block_pointers.py:15:64: error: 'order' names each of the dimensions 0 to 1 once [bad-argument]
#       g = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 1))
#                                                                  ^~~~~~
# block_pointers.py:16:9: error: '+' is not defined for a block pointer of float32[16, 16] [bad-operand]
#       h = p + 1
#           ^
# block_pointers.py:17:27: error: 'tl.make_block_ptr' needs a scalar pointer as its base, but this is int32 [bad-argument]
#       i = tl.make_block_ptr(n, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
#                             ^
