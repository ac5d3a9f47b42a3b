# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        v = tl.load(x)
    tl.store(x, v)
    for i in range(n):
        w = i
    tl.store(x, w)
# --- expected
# unknown_name_after_branch.py:9:17: error: 'v' is not defined here: it exists only inside the block that assigns it [unknown-name]
#       tl.store(x, v)
#                   ^
# unknown_name_after_branch.py:8:9: note: 'v' is assigned here; give it a value before the block or in both branches
#           v = tl.load(x)
#           ^
# unknown_name_after_branch.py:12:17: error: 'w' is not defined here: it exists only inside the block that assigns it [unknown-name]
#       tl.store(x, w)
#                   ^
# unknown_name_after_branch.py:11:9: note: 'w' is assigned here; give it a value before the block or in both branches
#           w = i
#           ^
