# test: syntax
@jit
def f(x, x, y=1, z, **kw, w):
    a = +
@jit
def g[T](x): pass
@jit
def 3(x):
    pass
@jit
def h(a, b
    return a
@jit
def class(x): pass
@jit def i(): pass
@jit
def j: pass
@jit
def k(x: , y): pass
@jit
def l(x) -> :
    b = +
@jit
def m(a, b
@jit
def n(x):
    c = +
# --- expected
# functions.py:2:10: error: parameter 'x' is repeated [syntax]
#   def f(x, x, y=1, z, **kw, w):
#            ^
# functions.py:3:10: error: expected an expression, found end of line [syntax]
#       a = +
#            ^
# functions.py:5:6: error: type parameters are not in the subset that kernels use [syntax]
#   def g[T](x): pass
#        ^
# functions.py:7:5: error: expected a function name, found '3' [syntax]
#   def 3(x):
#       ^
# functions.py:10:6: error: '(' is never closed [syntax]
#   def h(a, b
#        ^
# functions.py:13:5: error: expected a function name, but 'class' is a keyword [syntax]
#   def class(x): pass
#       ^~~~~
# functions.py:14:6: error: expected the end of the decorator, found 'def' [syntax]
#   @jit def i(): pass
#        ^~~
# functions.py:16:6: error: expected '(' and the parameters, found ':' [syntax]
#   def j: pass
#        ^
# functions.py:18:10: error: expected an expression, found ',' [syntax]
#   def k(x: , y): pass
#            ^
# functions.py:20:13: error: expected an expression, found ':' [syntax]
#   def l(x) -> :
#               ^
# functions.py:21:10: error: expected an expression, found end of line [syntax]
#       b = +
#            ^
# functions.py:23:6: error: '(' is never closed [syntax]
#   def m(a, b
#        ^
# functions.py:26:10: error: expected an expression, found end of line [syntax]
#       c = +
#            ^
