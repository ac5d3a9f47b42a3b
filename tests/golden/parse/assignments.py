# test: parse
a = b = 1
(c, d), *e = f
g: tl.constexpr = 2
h += 3
i[0] //= 4; j.k = 5
l: int
m, = n
# --- expected
# (assign
#   (target
#     (name a))
#   (target
#     (name b))
#   (int 1))
# (assign
#   (target
#     (tuple
#       (tuple
#         (name c)
#         (name d))
#       (starred
#         (name e))))
#   (name f))
# (ann_assign
#   (target
#     (name g))
#   (annotation
#     (attribute constexpr
#       (name tl)))
#   (int 2))
# (aug_assign +
#   (target
#     (name h))
#   (int 3))
# (aug_assign //
#   (target
#     (subscript
#       (name i)
#       (int 0)))
#   (int 4))
# (assign
#   (target
#     (attribute k
#       (name j)))
#   (int 5))
# (assign
#   (target
#     (tuple
#       (name m)))
#   (name n))
