# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.arange(0, 8)
    b = tl.arange(0, 16)
    c = a + b
    d = tl.load(x + a, mask=b < 3)
    tl.store(x + a, b)
    tl.store(x, b)
    tl.store(x + a, 1.0, mask=a[:, None] < b[None, :])
    e = tl.sum(a, axis=1)
    f = a[:, :]
    g = tl.broadcast_to(a, [4])
    h = tl.reshape(a, [4, 4])
    if a > 3:
        pass
    i = tl.trans(a)
    j = tl.permute(a[:, None], [0, 0])
    k = a.T
    m = tl.split(a[:, None])
    o = tl.cat(a, b)
    p = tl.load(x, mask=a < 3)
# --- expected
# shape_mismatch.py:9:9: error: int32[8] and int32[16] cannot be broadcast to one shape [shape-mismatch]
#       c = a + b
#           ^~~~~
# shape_mismatch.py:10:29: error: pointer<float32>[8] and int1[16] cannot be broadcast to one shape [shape-mismatch]
#       d = tl.load(x + a, mask=b < 3)
#                               ^~~~~
# shape_mismatch.py:11:21: error: the value is int32[16] and cannot be broadcast to the pointers' shape [8] [shape-mismatch]
#       tl.store(x + a, b)
#                       ^
# shape_mismatch.py:12:17: error: the pointer is a scalar, so the value must be one too, but it is int32[16] [shape-mismatch]
#       tl.store(x, b)
#                   ^
# shape_mismatch.py:13:31: error: the mask is int1[8, 16] and cannot be broadcast to the pointers' shape [8] [shape-mismatch]
#       tl.store(x + a, 1.0, mask=a[:, None] < b[None, :])
#                                 ^~~~~~~~~~~~~~~~~~~~~~~
# shape_mismatch.py:14:24: error: argument 'axis' of 'tl.sum' is 1, but a tile of 1 dimension has axes -1 to 0 [shape-mismatch]
#       e = tl.sum(a, axis=1)
#                          ^
# shape_mismatch.py:15:9: error: 2 dimensions are indexed, but int32[8] has 1 [shape-mismatch]
#       f = a[:, :]
#           ^~~~~~~
# shape_mismatch.py:16:9: error: int32[8] cannot be broadcast to [4] [shape-mismatch]
#       g = tl.broadcast_to(a, [4])
#           ^~~~~~~~~~~~~~~~~~~~~~~
# shape_mismatch.py:17:9: error: int32[8] has 8 elements and cannot become [4, 4] with 16 [shape-mismatch]
#       h = tl.reshape(a, [4, 4])
#           ^~~~~~~~~~~~~~~~~~~~~
# shape_mismatch.py:18:8: error: 'if' needs a scalar, but this is int1[8]; use tl.where to choose by element, or reduce it first [shape-mismatch]
#       if a > 3:
#          ^~~~~
# shape_mismatch.py:20:18: error: tl.trans needs 2 dimensions or more, but this is int32[8] [shape-mismatch]
#       i = tl.trans(a)
#                    ^
# shape_mismatch.py:21:32: error: the dimensions must be 0 to 1 in some order for int32[8, 1] [shape-mismatch]
#       j = tl.permute(a[:, None], [0, 0])
#                                  ^~~~~~
# shape_mismatch.py:22:9: error: '.T' needs 2 dimensions, but this is int32[8]; use tl.permute [shape-mismatch]
#       k = a.T
#           ^~~
# shape_mismatch.py:23:18: error: tl.split takes a last dimension of 2 apart, but this is int32[8, 1]; tl.reshape and tl.permute can make one [shape-mismatch]
#       m = tl.split(a[:, None])
#                    ^~~~~~~~~~
# shape_mismatch.py:24:9: error: tl.cat needs two tiles of one shape, but they are int32[8] and int32[16] [shape-mismatch]
#       o = tl.cat(a, b)
#           ^~~~~~~~~~~~
# shape_mismatch.py:25:25: error: the pointer is a scalar, so the mask must be one too, but it is int1[8] [shape-mismatch]
#       p = tl.load(x, mask=a < 3)
#                           ^~~~~
