# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    v = tl.load(x)
    a = x + x
    b = x * 2
    c = v & 1
    d = v // 2.0
    e = ~v
    f = n ** 2
    g = v @ v
    h = "a" + 1
    i = x + 1.5
    j = -x
    k = x < x
    m = v + "text"
    o = tl.exp(n)
    p = tl.clamp(n, 0, 1)
    q = (1, 2) + 3
# --- expected
# bad_operand.py:8:9: error: '+' is not defined for pointer<float32> and pointer<float32>; a pointer takes + and - of an integer [bad-operand]
#       a = x + x
#           ^~~~~
# bad_operand.py:9:9: error: '*' is not defined for pointer<float32> and the constant 2; a pointer takes + and - of an integer [bad-operand]
#       b = x * 2
#           ^~~~~
# bad_operand.py:10:9: error: '&' is not defined for floats (float32 and the constant 1) [bad-operand]
#       c = v & 1
#           ^~~~~
# bad_operand.py:11:9: error: '//' is not defined for floats (float32 and the constant 2.0); use tl.floor(a / b) [bad-operand]
#       d = v // 2.0
#           ^~~~~~~~
# bad_operand.py:12:9: error: unary '~' is not defined for floats (float32) [bad-operand]
#       e = ~v
#           ^~
# bad_operand.py:13:9: error: '**' is not defined for tensors; use products, tl.exp2 or libdevice.pow [bad-operand]
#       f = n ** 2
#           ^~~~~~
# bad_operand.py:14:9: error: '@' is not defined for tensors; use tl.dot [bad-operand]
#       g = v @ v
#           ^~~~~
# bad_operand.py:15:9: error: '+' is not defined for str and int [bad-operand]
#       h = "a" + 1
#           ^~~~~~~
# bad_operand.py:16:13: error: a pointer is moved by integers, not by float32 [bad-operand]
#       i = x + 1.5
#               ^~~
# bad_operand.py:17:9: error: unary '-' is not defined for pointer<float32> [bad-operand]
#       j = -x
#           ^~
# bad_operand.py:18:9: error: '<' is not defined for pointer<float32> [bad-operand]
#       k = x < x
#           ^
# bad_operand.py:19:13: error: '+' is not defined for the constant 'text' [bad-operand]
#       m = v + "text"
#               ^~~~~~
# bad_operand.py:20:16: error: 'tl.exp' takes float32 or float64, but this is int32; convert with .to(tl.float32) [bad-operand]
#       o = tl.exp(n)
#                  ^
# bad_operand.py:21:18: error: tl.clamp takes floats, but this is int32; use tl.minimum and tl.maximum [bad-operand]
#       p = tl.clamp(n, 0, 1)
#                    ^
# bad_operand.py:22:9: error: '+' is not defined for a tuple of 2 and the constant 3 [bad-operand]
#       q = (1, 2) + 3
#           ^~~~~~~~~~
