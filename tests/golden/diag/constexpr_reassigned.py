# test: diag arg=x=*f32 arg=n=i32 const=N=4
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, N: tl.constexpr):
    a = 1
    a: tl.constexpr = 2
    b: tl.constexpr = 3
    b: tl.constexpr = 4
    for i in range(n):
        N = N + 1
    tl.store(x, N)
# --- expected
# constexpr_reassigned.py:8:5: error: 'a' already has a value and cannot be declared constexpr [constexpr-reassigned]
#       a: tl.constexpr = 2
#       ^
# constexpr_reassigned.py:7:5: note: 'a' gets its first value here
#       a = 1
#       ^
# constexpr_reassigned.py:10:5: error: 'b' already has a value and cannot be declared constexpr [constexpr-reassigned]
#       b: tl.constexpr = 4
#       ^
# constexpr_reassigned.py:9:5: note: 'b' gets its first value here
#       b: tl.constexpr = 3
#       ^
# constexpr_reassigned.py:12:9: error: 'N' is constexpr and cannot be assigned in a loop [constexpr-reassigned]
#           N = N + 1
#           ^
# constexpr_reassigned.py:6:18: note: 'N' is declared here
#   def kernel(x, n, N: tl.constexpr):
#                    ^
