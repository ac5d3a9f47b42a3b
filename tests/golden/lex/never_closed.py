# test: lex
x = f(a,
def g():
    return [1
@jit
def h():
    pass
"""to the end
# --- expected
# 1:1 name x
# 1:3 '='
# 1:5 name f
# 1:6 '('
# 1:7 name a
# 1:8 ','
# 1:6 invalid text: '(' is never closed
# 2:1 end of line
# 2:1 'def'
# 2:5 name g
# 2:6 '('
# 2:7 ')'
# 2:8 ':'
# 2:9 end of line
# 3:5 indent
# 3:5 'return'
# 3:12 '['
# 3:13 number 1
# 3:12 invalid text: '[' is never closed
# 4:1 end of line
# 4:1 dedent
# 4:1 '@'
# 4:2 name jit
# 4:5 end of line
# 5:1 'def'
# 5:5 name h
# 5:6 '('
# 5:7 ')'
# 5:8 ':'
# 5:9 end of line
# 6:5 indent
# 6:5 'pass'
# 6:9 end of line
# 7:1 dedent
# 7:1 invalid text: this string is never closed
# 8:1 end of line
# 8:1 end of file
