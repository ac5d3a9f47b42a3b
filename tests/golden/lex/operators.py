# test: lex
a **= b // c <= d -> e := f ... . @= @ != ! ~ ^ >>= << %
is not in None lambda notin
# --- expected
# 1:1 name a
# 1:3 '**='
# 1:7 name b
# 1:9 '//'
# 1:12 name c
# 1:14 '<='
# 1:17 name d
# 1:19 '->'
# 1:22 name e
# 1:24 ':='
# 1:27 name f
# 1:29 '...'
# 1:33 '.'
# 1:35 '@='
# 1:38 '@'
# 1:40 '!='
# 1:43 invalid text: '!' is not part of Python's text
# 1:45 '~'
# 1:47 '^'
# 1:49 '>>='
# 1:53 '<<'
# 1:56 '%'
# 1:57 end of line
# 2:1 'is'
# 2:4 'not'
# 2:8 'in'
# 2:11 'None'
# 2:16 'lambda'
# 2:23 name notin
# 2:28 end of line
# 3:1 end of file
