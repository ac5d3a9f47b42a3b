# test: parse
a = f(x, *args, k=1, **kw)
b = f(x for x in y if x)
c = g()(1,)[0](h=lambda *a, b=2, **c: a[0])
d = [p * q for p in range(4) for q in (1, 2) if p if q]
e = {"a": 1, 2: b}
f = {k: v for k, v in e}
g = {1, 2}
h = [(yield), *a]
# --- expected
# (assign
#   (target
#     (name a))
#   (call
#     (name f)
#     (name x)
#     (starred
#       (name args))
#     (double_starred
#       (name kw))
#     (k =
#       (int 1))))
# (assign
#   (target
#     (name b))
#   (call
#     (name f)
#     (unsupported "a generator expression"
#       (name x)
#       (for
#         (name x)
#         (name y)
#         (if
#           (name x))))))
# (assign
#   (target
#     (name c))
#   (call
#     (subscript
#       (call
#         (call
#           (name g))
#         (int 1))
#       (int 0))
#     (h =
#       (lambda
#         (var_args a)
#         (keyword_param b
#           (default
#             (int 2)))
#         (var_keywords c)
#         (subscript
#           (name a)
#           (int 0))))))
# (assign
#   (target
#     (name d))
#   (list_comp
#     (binary *
#       (name p)
#       (name q))
#     (for
#       (name p)
#       (call
#         (name range)
#         (int 4)))
#     (for
#       (name q)
#       (tuple
#         (int 1)
#         (int 2))
#       (if
#         (name p))
#       (if
#         (name q)))))
# (assign
#   (target
#     (name e))
#   (dict
#     (string "a")
#     (int 1)
#     (int 2)
#     (name b)))
# (assign
#   (target
#     (name f))
#   (unsupported "a dict comprehension"
#     (name k)
#     (name v)
#     (for
#       (tuple
#         (name k)
#         (name v))
#       (name e))))
# (assign
#   (target
#     (name g))
#   (unsupported "a set display"
#     (int 1)
#     (int 2)))
# (assign
#   (target
#     (name h))
#   (list
#     (unsupported "a yield expression")
#     (starred
#       (name a))))
