# test: diag arg=x=*f32 arg=n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        if i > 3:
            break
        continue
    x[0] = 1.0
    while n > 0:
        return
    def inner(y):
        return y
    import math
    for j in (1, 2):
        pass
    for a, b in range(n):
        pass
# --- expected
# unsupported_statements.py:9:13: error: 'break' cannot be used in a kernel; guard the rest of the body with 'if' [unsupported-syntax]
#               break
#               ^~~~~
# unsupported_statements.py:10:9: error: 'continue' cannot be used in a kernel; guard the rest of the body with 'if' [unsupported-syntax]
#           continue
#           ^~~~~~~~
# unsupported_statements.py:11:5: error: only names can be assigned in a kernel; memory is written by tl.store [unsupported-syntax]
#       x[0] = 1.0
#       ^~~~
# unsupported_statements.py:13:9: error: 'return' inside a loop cannot be used in a kernel; guard the rest of the body with 'if' instead [unsupported-syntax]
#           return
#           ^~~~~~
# unsupported_statements.py:14:5: error: a function inside a function cannot be used in a kernel [unsupported-syntax]
#       def inner(y):
#       ^~~~~~~~~~~~~
# unsupported_statements.py:16:5: error: an import cannot be used in a kernel [unsupported-syntax]
#       import math
#       ^~~~~~~~~~~
# unsupported_statements.py:17:14: error: a kernel loops over range, tl.range or tl.static_range only [unsupported-syntax]
#       for j in (1, 2):
#                ^~~~~~
# unsupported_statements.py:19:9: error: the variable of a loop must be one name [unsupported-syntax]
#       for a, b in range(n):
#           ^~~~
