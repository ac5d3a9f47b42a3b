# test: lex
x = f(a,
      b,  # comment
    )[
 0]
y = 1 + \
    2
z = """one
    two"""; w = 3
# --- expected
# 1:1 name x
# 1:3 '='
# 1:5 name f
# 1:6 '('
# 1:7 name a
# 1:8 ','
# 2:7 name b
# 2:8 ','
# 3:5 ')'
# 3:6 '['
# 4:2 number 0
# 4:3 ']'
# 4:4 end of line
# 5:1 name y
# 5:3 '='
# 5:5 number 1
# 5:7 '+'
# 6:5 number 2
# 6:6 end of line
# 7:1 name z
# 7:3 '='
# 7:5 string
# 8:11 ';'
# 8:13 name w
# 8:15 '='
# 8:17 number 3
# 8:18 end of line
# 9:1 end of file
