# test: parse
a = x[:, None]
b = x[None, :, None]
c = x[1:2:3, ::2, i]
d = x[(i, j)]
e = x[i,]
f = x.shape[-1][...]
# --- expected
# (assign
#   (target
#     (name a))
#   (subscript
#     (name x)
#     (slice
#       (absent)
#       (absent)
#       (absent))
#     (None)))
# (assign
#   (target
#     (name b))
#   (subscript
#     (name x)
#     (None)
#     (slice
#       (absent)
#       (absent)
#       (absent))
#     (None)))
# (assign
#   (target
#     (name c))
#   (subscript
#     (name x)
#     (slice
#       (int 1)
#       (int 2)
#       (int 3))
#     (slice
#       (absent)
#       (absent)
#       (int 2))
#     (name i)))
# (assign
#   (target
#     (name d))
#   (subscript
#     (name x)
#     (tuple
#       (name i)
#       (name j))))
# (assign
#   (target
#     (name e))
#   (subscript
#     (name x)
#     (tuple
#       (name i))))
# (assign
#   (target
#     (name f))
#   (subscript
#     (subscript
#       (attribute shape
#         (name x))
#       (unary -
#         (int 1)))
#     (...)))
