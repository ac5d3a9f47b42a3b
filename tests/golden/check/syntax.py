# test: check
@jit
def kernel(x, n, **kw):
    a = 0 < x < n
    b = [i for i in range(4)]
    c = {1: 2}
    d = lambda y: y
    e = (f := x) + f
    g = {x, n}
    h = (i for i in x)
    x[0] = 1
    x.y += 1
    for i in range(n):
        break
    else:
        continue
    with x:
        pass
    def inner(): pass
    class C: pass
    import math
    j = k(**kw)
# --- expected
# kernel:
# syntax.py:2:20: error: a '**' parameter cannot be used in a jit function; name the parameters [unsupported-syntax]
#   def kernel(x, n, **kw):
#                      ^~
# syntax.py:3:9: error: a chained comparison cannot be used in a kernel; write 'a < b and b < c' [unsupported-syntax]
#       a = 0 < x < n
#           ^~~~~~~~~
# syntax.py:4:9: error: a list comprehension cannot be used in a kernel [unsupported-syntax]
#       b = [i for i in range(4)]
#           ^~~~~~~~~~~~~~~~~~~~~
# syntax.py:5:9: error: a dict cannot be used in a kernel [unsupported-syntax]
#       c = {1: 2}
#           ^~~~~~
# syntax.py:6:9: error: a lambda cannot be used in a kernel [unsupported-syntax]
#       d = lambda y: y
#           ^~~~~~~~~~~
# syntax.py:7:9: error: ':=' cannot be used in a kernel [unsupported-syntax]
#       e = (f := x) + f
#           ^~~~~~~~
# syntax.py:8:9: error: a set display cannot be used in a kernel [unsupported-syntax]
#       g = {x, n}
#           ^~~~~~
# syntax.py:9:9: error: a generator expression cannot be used in a kernel [unsupported-syntax]
#       h = (i for i in x)
#           ^~~~~~~~~~~~~~
# syntax.py:10:5: error: only names can be assigned in a kernel; memory is written by tl.store [unsupported-syntax]
#       x[0] = 1
#       ^~~~
# syntax.py:11:5: error: only names can be assigned in a kernel; memory is written by tl.store [unsupported-syntax]
#       x.y += 1
#       ^~~
# syntax.py:12:5: error: 'else' of a loop cannot be used in a kernel [unsupported-syntax]
#       for i in range(n):
#       ^~~~~~~~~~~~~~~~~~
# syntax.py:13:9: error: 'break' cannot be used in a kernel [unsupported-syntax]
#           break
#           ^~~~~
# syntax.py:15:9: error: 'continue' cannot be used in a kernel [unsupported-syntax]
#           continue
#           ^~~~~~~~
# syntax.py:16:5: error: 'with' cannot be used in a kernel [unsupported-syntax]
#       with x:
#       ^~~~~~~
# syntax.py:18:5: error: a function inside a function cannot be used in a kernel [unsupported-syntax]
#       def inner(): pass
#       ^~~~~~~~~~~~
# syntax.py:19:5: error: a class cannot be used in a kernel [unsupported-syntax]
#       class C: pass
#       ^~~~~~~~
# syntax.py:20:5: error: an import cannot be used in a kernel [unsupported-syntax]
#       import math
#       ^~~~~~~~~~~
# syntax.py:21:9: error: 'k' is not defined [unknown-name]
#       j = k(**kw)
#           ^
# syntax.py:21:11: error: '**' in a call cannot be used in a kernel; name the arguments [unsupported-syntax]
#       j = k(**kw)
#             ^~~~
