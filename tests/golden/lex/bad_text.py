# test: lex
x = 0x
y = 12ab
z = "open
w = a ? b $ c
) ] }
(a]
# --- expected
# 1:1 name x
# 1:3 '='
# 1:5 invalid text: '0x' is not a number
# 1:7 end of line
# 2:1 name y
# 2:3 '='
# 2:5 invalid text: '12ab' is not a number
# 2:9 end of line
# 3:1 name z
# 3:3 '='
# 3:5 invalid text: this string is never closed
# 3:10 end of line
# 4:1 name w
# 4:3 '='
# 4:5 name a
# 4:7 invalid text: '?' is not part of Python's text
# 4:9 name b
# 4:11 invalid text: '$' is not part of Python's text
# 4:13 name c
# 4:14 end of line
# 5:1 invalid text: ')' closes nothing
# 5:3 invalid text: ']' closes nothing
# 5:5 invalid text: '}' closes nothing
# 5:6 end of line
# 6:1 '('
# 6:2 name a
# 6:3 invalid text: ']' does not match '('
# 6:1 invalid text: '(' is never closed
# 7:1 end of line
# 7:1 end of file
