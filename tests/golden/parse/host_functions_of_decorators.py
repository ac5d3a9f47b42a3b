# test: parse
def num_warps(): return 4
def configs():
    out = []
    for b in [32, 64]:
        out.append(triton.Config({"B": b}, num_warps=num_warps()))
    return out
def unrelated():
    pass
def uses_try():
    try: pass
    except: pass
CONFIGS = configs()
@triton.autotune(configs=CONFIGS + uses_try(), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def kernel(n, B: tl.constexpr):
    pass
# --- expected
# (assign
#   (target
#     (name CONFIGS))
#   (call
#     (name configs)))
# (function kernel
#   (decorator
#     (call
#       (attribute autotune
#         (name triton))
#       (configs =
#         (binary +
#           (name CONFIGS)
#           (call
#             (name uses_try))))
#       (key =
#         (list
#           (string "n")))))
#   (decorator
#     (call
#       (attribute heuristics
#         (name triton))
#       (dict
#         (string "EVEN")
#         (lambda
#           (param args)
#           (compare ==
#             (binary %
#               (subscript
#                 (name args)
#                 (string "n"))
#               (int 2))
#             (int 0))))))
#   (decorator
#     (attribute jit
#       (name triton)))
#   (param n)
#   (param B
#     (annotation
#       (attribute constexpr
#         (name tl))))
#   (body
#     (pass)))
# (host
#   (function configs
#     (body
#       (assign
#         (target
#           (name out))
#         (list))
#       (for
#         (target
#           (name b))
#         (list
#           (int 32)
#           (int 64))
#         (body
#           (expr
#             (call
#               (attribute append
#                 (name out))
#               (call
#                 (attribute Config
#                   (name triton))
#                 (dict
#                   (string "B")
#                   (name b))
#                 (num_warps =
#                   (call
#                     (name num_warps))))))))
#       (return
#         (name out))))
#   (function num_warps
#     (body
#       (return
#         (int 4)))))
