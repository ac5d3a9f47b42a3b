# test: syntax
@jit
def f(x):
    a = 12ab
    b = 007
    c = 0xffffffffffffffffff
    d = "open
    e = "\x4" "\U00110000"
    g = f"{x" f"}"
    h = f"{x y}"
    i = "\N{BULLET}"
    j = f"{}"
    k = a ? b
# --- expected
# literals.py:3:9: error: '12ab' is not a number [bad-literal]
#       a = 12ab
#           ^~~~
# literals.py:4:9: error: '007' is not a number: leading zeros [bad-literal]
#       b = 007
#           ^~~
# literals.py:5:9: error: this integer needs more than 64 bits [bad-literal]
#       c = 0xffffffffffffffffff
#           ^~~~~~~~~~~~~~~~~~~~
# literals.py:6:9: error: this string is never closed [bad-literal]
#       d = "open
#           ^~~~~
# literals.py:7:10: error: this escape needs 2 hex digits [bad-literal]
#       e = "\x4" "\U00110000"
#            ^~~
# literals.py:8:13: error: expected the end of this field, found '" f"' [syntax]
#       g = f"{x" f"}"
#               ^~~~
# literals.py:9:14: error: expected the end of this field, found 'y' [syntax]
#       h = f"{x y}"
#                ^
# literals.py:10:10: error: named characters are not supported; write the character [bad-literal]
#       i = "\N{BULLET}"
#            ^~
# literals.py:11:12: error: this field of the f-string is empty [syntax]
#       j = f"{}"
#              ^
# literals.py:12:11: error: '?' is not part of Python's text [syntax]
#       k = a ? b
#             ^
