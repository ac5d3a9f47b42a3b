# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = 0 < n < 5
    b = lambda y: y
    c = [i for i in range(3)]
    d = {"a": 1}
    e = (f := 3)
    g = f(**d)
    h = tl.arange(0, 8)[0]
    k = tl.arange(0, 8)[1:3]
# --- expected
# unsupported_expressions.py:7:9: error: a chained comparison cannot be used in a kernel; write 'a < b and b < c' [unsupported-syntax]
#       a = 0 < n < 5
#           ^~~~~~~~~
# unsupported_expressions.py:8:9: error: a lambda cannot be used in a kernel; write a @triton.jit function [unsupported-syntax]
#       b = lambda y: y
#           ^~~~~~~~~~~
# unsupported_expressions.py:9:9: error: a comprehension cannot be used in a kernel; use a tl.static_range loop [unsupported-syntax]
#       c = [i for i in range(3)]
#           ^~~~~~~~~~~~~~~~~~~~~
# unsupported_expressions.py:10:9: error: a dict cannot be used in a kernel [unsupported-syntax]
#       d = {"a": 1}
#           ^~~~~~~~
# unsupported_expressions.py:11:9: error: ':=' cannot be used in a kernel; assign in a statement of its own [unsupported-syntax]
#       e = (f := 3)
#           ^~~~~~~~
# unsupported_expressions.py:12:9: error: 'f' is not defined [unknown-name]
#       g = f(**d)
#           ^
# unsupported_expressions.py:12:11: error: '**' in a call cannot be used in a kernel; name the arguments [unsupported-syntax]
#       g = f(**d)
#             ^~~
# unsupported_expressions.py:13:25: error: a tensor is indexed by ':' and None only; use a load through pointers, or tl.reshape and tl.split, to take elements [unsupported-syntax]
#       h = tl.arange(0, 8)[0]
#                           ^
# unsupported_expressions.py:14:25: error: a tensor is indexed by ':' and None only; use a load through pointers, or tl.reshape and tl.split, to take elements [unsupported-syntax]
#       k = tl.arange(0, 8)[1:3]
#                           ^~~
