# test: syntax
@jit
def f(x):
    a = tl.load(x + (1
    b = 2 +
    c = 3
    if (x:
        d = [
    else:
        e = 4 +
    return ]
N = (1
@jit
def g(y):
    z = y +
# --- expected
# recovery_after_open_bracket.py:3:21: error: '(' is never closed [syntax]
#       a = tl.load(x + (1
#                       ^
# recovery_after_open_bracket.py:4:12: error: expected an expression, found end of line [syntax]
#       b = 2 +
#              ^
# recovery_after_open_bracket.py:6:10: error: expected ',' or ')', found ':' [syntax]
#       if (x:
#            ^
# recovery_after_open_bracket.py:9:16: error: expected an expression, found end of line [syntax]
#           e = 4 +
#                  ^
# recovery_after_open_bracket.py:10:12: error: ']' closes nothing [syntax]
#       return ]
#              ^
# recovery_after_open_bracket.py:11:5: error: '(' is never closed [syntax]
#   N = (1
#       ^
# recovery_after_open_bracket.py:14:12: error: expected an expression, found end of line [syntax]
#       z = y +
#              ^
