# test: syntax
@jit
def f(x):
    a = x +
    b = (x y)
    c = f(x=1, 2)
    d = f(x=1, x=2)
    1 + x = 3
    e = x if y
    g = x[1:2:3:4]
    h = [1, 2
    i = x..y
    k = lambda 3
    l = x not y
    f(a) += 1
    m = import
    n = 1 2
    o = x[
    p = )
# --- expected
# expressions.py:3:12: error: expected an expression, found end of line [syntax]
#       a = x +
#              ^
# expressions.py:4:12: error: expected ',' or ')', found 'y' [syntax]
#       b = (x y)
#              ^
# expressions.py:5:16: error: a positional argument cannot follow a keyword argument [syntax]
#       c = f(x=1, 2)
#                  ^
# expressions.py:6:16: error: keyword argument 'x' is repeated [syntax]
#       d = f(x=1, x=2)
#                  ^
# expressions.py:7:5: error: this expression cannot be assigned to [syntax]
#       1 + x = 3
#       ^~~~~
# expressions.py:8:15: error: expected 'else' of the conditional expression, found end of line [syntax]
#       e = x if y
#                 ^
# expressions.py:9:16: error: expected ',' or ']' in this subscript, found ':' [syntax]
#       g = x[1:2:3:4]
#                  ^
# expressions.py:10:9: error: '[' is never closed [syntax]
#       h = [1, 2
#           ^
# expressions.py:11:11: error: expected an attribute name, found '.' [syntax]
#       i = x..y
#             ^
# expressions.py:12:16: error: expected a parameter name, found '3' [syntax]
#       k = lambda 3
#                  ^
# expressions.py:13:11: error: expected the end of the statement, found 'not' [syntax]
#       l = x not y
#             ^~~
# expressions.py:14:5: error: this expression cannot be assigned to [syntax]
#       f(a) += 1
#       ^~~~
# expressions.py:15:9: error: expected an expression, found 'import' [syntax]
#       m = import
#           ^~~~~~
# expressions.py:16:11: error: expected the end of the statement, found '2' [syntax]
#       n = 1 2
#             ^
# expressions.py:17:10: error: '[' is never closed [syntax]
#       o = x[
#            ^
# expressions.py:18:9: error: ')' closes nothing [syntax]
#       p = )
#           ^
