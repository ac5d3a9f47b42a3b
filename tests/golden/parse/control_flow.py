# test: parse
@jit
def f(a):
    if a: return
    if a > 1:
        pass
    elif (b := a) > 2:
        x, y = a, b
    else:
        z = 1
    for i in tl.range(0, a, num_stages=3):
        continue
    else:
        break
    for i, (j, k) in zip(a, b): pass
    while a:
        a -= 1
    with tl.scope("x") as s, other:
        assert a == 1, f"bad {a}"
    raise ValueError("no") from a
    return a, *b
# --- expected
# (function f
#   (decorator
#     (name jit))
#   (param a)
#   (body
#     (if
#       (name a)
#       (body
#         (return)))
#     (if
#       (compare >
#         (name a)
#         (int 1))
#       (body
#         (pass))
#       (orelse
#         (if
#           (compare >
#             (named b
#               (name a))
#             (int 2))
#           (body
#             (assign
#               (target
#                 (tuple
#                   (name x)
#                   (name y)))
#               (tuple
#                 (name a)
#                 (name b))))
#           (orelse
#             (assign
#               (target
#                 (name z))
#               (int 1))))))
#     (for
#       (target
#         (name i))
#       (call
#         (attribute range
#           (name tl))
#         (int 0)
#         (name a)
#         (num_stages =
#           (int 3)))
#       (body
#         (continue))
#       (orelse
#         (break)))
#     (for
#       (target
#         (tuple
#           (name i)
#           (tuple
#             (name j)
#             (name k))))
#       (call
#         (name zip)
#         (name a)
#         (name b))
#       (body
#         (pass)))
#     (while
#       (name a)
#       (body
#         (aug_assign -
#           (target
#             (name a))
#           (int 1))))
#     (with
#       (target
#         (name s))
#       (call
#         (attribute scope
#           (name tl))
#         (string "x"))
#       (body
#         (with
#           (name other)
#           (body
#             (assert
#               (compare ==
#                 (name a)
#                 (int 1))
#               (message
#                 (fstring
#                   (string "bad ")
#                   (name a))))))))
#     (raise
#       (call
#         (name ValueError)
#         (string "no"))
#       (message
#         (name a)))
#     (return
#       (tuple
#         (name a)
#         (starred
#           (name b))))))
