# test: lex
if a:
    b

    # a comment does not close the block
  # nor here
    c
	# tabs go to multiples of eight
    if d:
	e
f
# --- expected
# 1:1 'if'
# 1:4 name a
# 1:5 ':'
# 1:6 end of line
# 2:5 indent
# 2:5 name b
# 2:6 end of line
# 6:5 name c
# 6:6 end of line
# 8:5 'if'
# 8:8 name d
# 8:9 ':'
# 8:10 end of line
# 9:2 indent
# 9:2 name e
# 9:3 end of line
# 10:1 dedent
# 10:1 dedent
# 10:1 name f
# 10:2 end of line
# 11:1 end of file
