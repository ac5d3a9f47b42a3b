# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = 0
    if n > 0:
        a = tl.load(x)
        b = tl.arange(0, 8)
    else:
        b = tl.arange(0, 16)
    c = 1 if n > 1 else 2.0
    tl.store(x, a)
# --- expected
# type_mismatch_branch.py:9:9: error: 'a' is float32 after one branch of the run-time 'if' at line 8 and int32 after the other [type-mismatch-branch]
#           a = tl.load(x)
#           ^
# type_mismatch_branch.py:9:9: note: here 'a' is float32
#           a = tl.load(x)
#           ^
# type_mismatch_branch.py:7:5: note: here 'a' is int32
#       a = 0
#       ^
# type_mismatch_branch.py:10:9: error: 'b' is int32[8] after one branch of the run-time 'if' at line 8 and int32[16] after the other [type-mismatch-branch]
#           b = tl.arange(0, 8)
#           ^
# type_mismatch_branch.py:10:9: note: here 'b' is int32[8]
#           b = tl.arange(0, 8)
#           ^
# type_mismatch_branch.py:12:9: note: here 'b' is int32[16]
#           b = tl.arange(0, 16)
#           ^
# type_mismatch_branch.py:13:9: error: the two sides of a run-time condition must have one type, but are int32 and float32 [type-mismatch-branch]
#       c = 1 if n > 1 else 2.0
#           ^~~~~~~~~~~~~~~~~~~
# type_mismatch_branch.py:13:9: note: this is int32
#       c = 1 if n > 1 else 2.0
#           ^
# type_mismatch_branch.py:13:25: note: this is float32
#       c = 1 if n > 1 else 2.0
#                           ^~~
