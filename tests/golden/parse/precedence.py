# test: parse
a = x + y * z ** -w - v // u
b = not x < y <= z and p or q if c else d
c = x | y ^ z & w << 1
d = -x ** 2
e = a is not None, b not in c
f = ~x[0].T(1)
# --- expected
# (assign
#   (target
#     (name a))
#   (binary -
#     (binary +
#       (name x)
#       (binary *
#         (name y)
#         (binary **
#           (name z)
#           (unary -
#             (name w)))))
#     (binary //
#       (name v)
#       (name u))))
# (assign
#   (target
#     (name b))
#   (ternary
#     (name c)
#     (bool or
#       (bool and
#         (unary not
#           (compare < <=
#             (name x)
#             (name y)
#             (name z)))
#         (name p))
#       (name q))
#     (name d)))
# (assign
#   (target
#     (name c))
#   (binary |
#     (name x)
#     (binary ^
#       (name y)
#       (binary &
#         (name z)
#         (binary <<
#           (name w)
#           (int 1))))))
# (assign
#   (target
#     (name d))
#   (unary -
#     (binary **
#       (name x)
#       (int 2))))
# (assign
#   (target
#     (name e))
#   (tuple
#     (compare is not
#       (name a)
#       (None))
#     (compare not in
#       (name b)
#       (name c))))
# (assign
#   (target
#     (name f))
#   (unary ~
#     (call
#       (attribute T
#         (subscript
#           (name x)
#           (int 0)))
#       (int 1))))
