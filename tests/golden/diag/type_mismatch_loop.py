# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    acc = 0
    size = tl.arange(0, 8)
    none = None
    for i in range(n):
        acc += tl.load(x + i)
        size = tl.arange(0, 16)
        none = i
    while acc < 3:
        acc = acc + 0.5
    tl.store(x, acc)
# --- expected
# type_mismatch_loop.py:11:9: error: 'acc' is int32 before the loop but float32 at the end of its body; a variable carried around a loop keeps its type [type-mismatch-loop]
#           acc += tl.load(x + i)
#           ^~~
# type_mismatch_loop.py:7:5: note: 'acc' gets its value before the loop here
#       acc = 0
#       ^~~
# type_mismatch_loop.py:12:9: error: 'size' is int32[8] before the loop but int32[16] at the end of its body; a variable carried around a loop keeps its type [type-mismatch-loop]
#           size = tl.arange(0, 16)
#           ^~~~
# type_mismatch_loop.py:8:5: note: 'size' gets its value before the loop here
#       size = tl.arange(0, 8)
#       ^~~~
# type_mismatch_loop.py:13:9: error: 'none' is None before the loop but int32 at the end of its body; a variable carried around a loop keeps its type [type-mismatch-loop]
#           none = i
#           ^~~~
# type_mismatch_loop.py:9:5: note: 'none' gets its value before the loop here
#       none = None
#       ^~~~
