# test: parse
a = "x" 'y' r"\n" "\n\x41\u00e9\101\q"
b = f"a{x}b{{}}" "c" f"{y!r:>{w}}" f'{d["k"]:.3f}{z=}'
c = '''
  t'''
d = b"bytes"
e = f"{f'{inner}'}" f"""{
  x
  + 1}"""
# --- expected
# (assign
#   (target
#     (name a))
#   (string "xy\\n\nAéA\\q"))
# (assign
#   (target
#     (name b))
#   (fstring
#     (string "a")
#     (name x)
#     (string "b{}c")
#     (formatted "!r:>{w}"
#       (name y))
#     (formatted ":.3f"
#       (subscript
#         (name d)
#         (string "k")))
#     (string "z=")
#     (formatted "!r"
#       (name z))))
# (assign
#   (target
#     (name c))
#   (string "\n  t"))
# (assign
#   (target
#     (name d))
#   (unsupported "a bytes literal"))
# (assign
#   (target
#     (name e))
#   (fstring
#     (fstring
#       (name inner))
#     (binary +
#       (name x)
#       (int 1))))
