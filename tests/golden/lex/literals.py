# test: lex
0 1_000 0xFF_ff 0o17 0b1010 1. .5 1e-3 1_0.0_1e+5 2j 1if
'a' "b\"" r'\' b"x" Rb'y' f'{a["k"]}' f"{x!r:>{w}}{{" rf'\{y}'
'''a'b''' """c"d"""
# --- expected
# 1:1 number 0
# 1:3 number 1_000
# 1:9 number 0xFF_ff
# 1:17 number 0o17
# 1:22 number 0b1010
# 1:29 number 1.
# 1:32 number .5
# 1:35 number 1e-3
# 1:40 number 1_0.0_1e+5
# 1:51 number 2j
# 1:54 number 1
# 1:55 'if'
# 1:57 end of line
# 2:1 string 'a'
# 2:5 string "b\""
# 2:11 string r'\' b"x" Rb'
# 2:24 name y
# 2:25 string ' f'
# 2:29 '{'
# 2:30 name a
# 2:31 '['
# 2:32 string "k"
# 2:35 ']'
# 2:36 '}'
# 2:37 string ' f"{x!r:>{w}}{{" rf'
# 2:58 invalid text: '\' is not part of Python's text
# 2:59 '{'
# 2:60 name y
# 2:61 '}'
# 2:62 invalid text: this string is never closed
# 2:63 end of line
# 3:1 string '''a'b'''
# 3:11 string """c"d"""
# 3:20 end of line
# 4:1 end of file
