# test: check
@jit
def kernel(x):
    y = (x
    z = x +
# --- expected
# broken_file.py:3:9: error: '(' is never closed [syntax]
#       y = (x
#           ^
# broken_file.py:4:12: error: expected an expression, found end of line [syntax]
#       z = x +
#              ^
