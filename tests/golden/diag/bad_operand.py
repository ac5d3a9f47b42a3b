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
# bad_operand.py:8:9: error: '+' is not defined for pointer<float32> and pointer<float32>; a pointer takes + and - of an integer [constexpr-reassigned]
#       a = x + x
#           ^~~~~
# bad_operand.py:9:9: error: '*' is not defined for pointer<float32> and the constant 2; a pointer takes + and - of an integer [constexpr-reassigned]
#       b = x * 2
#           ^~~~~
# bad_operand.py:10:9: error: '&' is not defined for floats (float32 and the constant 1) [constexpr-reassigned]
#       c = v & 1
#           ^~~~~
# bad_operand.py:11:9: error: '//' is not defined for floats (float32 and the constant 2.0); use tl.floor(a / b) [constexpr-reassigned]
#       d = v // 2.0
#           ^~~~~~~~
# bad_operand.py:12:9: error: unary '~' is not defined for floats (float32) [constexpr-reassigned]
#       e = ~v
#           ^~
# bad_operand.py:13:9: error: '**' is not defined for tensors; use products, tl.exp2 or libdevice.pow [constexpr-reassigned]
#       f = n ** 2
#           ^~~~~~
# bad_operand.py:14:9: error: '@' is not defined for tensors; use tl.dot [constexpr-reassigned]
#       g = v @ v
#           ^~~~~
# bad_operand.py:15:9: error: '+' is not defined for str and int [constexpr-reassigned]
#       h = "a" + 1
#           ^~~~~~~
# bad_operand.py:16:13: error: a pointer is moved by integers, not by float32 [constexpr-reassigned]
#       i = x + 1.5
#               ^~~
# bad_operand.py:17:9: error: unary '-' is not defined for pointer<float32> [constexpr-reassigned]
#       j = -x
#           ^~
# bad_operand.py:18:9: error: '<' is not defined for pointer<float32> [constexpr-reassigned]
#       k = x < x
#           ^
# bad_operand.py:19:13: error: '+' is not defined for the constant 'text' [constexpr-reassigned]
#       m = v + "text"
#               ^~~~~~
# bad_operand.py:20:16: error: 'tl.exp' takes float32 or float64, but this is int32; convert with .to(tl.float32) [constexpr-reassigned]
#       o = tl.exp(n)
#                  ^
# bad_operand.py:21:18: error: tl.clamp takes floats, but this is int32; use tl.minimum and tl.maximum [constexpr-reassigned]
#       p = tl.clamp(n, 0, 1)
#                    ^
# bad_operand.py:22:9: error: '+' is not defined for a tuple of 2 and the constant 3 [constexpr-reassigned]
#       q = (1, 2) + 3
#           ^~~~~~~~~~
