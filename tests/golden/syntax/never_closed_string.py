# test: syntax
def host():
    """never closed
@jit
def f(x):
    a = ?
# --- expected
# never_closed_string.py:2:5: error: this string is never closed [bad-literal]
#       """never closed
#       ^~~
