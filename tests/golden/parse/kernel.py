# test: parse
import triton
import triton.language as tl
from triton.language.extra import libdevice as ld, core

@triton.jit
def add(x_ptr, n: "i32", BLOCK: tl.constexpr = 128, *, flag=None):
    """Adds."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(x_ptr + offs, x)
# --- expected
# (import
#   (from triton as triton))
# (import
#   (from triton.language as tl))
# (import
#   (from triton.language.extra libdevice as ld)
#   (from triton.language.extra core as core))
# (function add
#   (decorator
#     (attribute jit
#       (name triton)))
#   (param x_ptr)
#   (param n
#     (annotation
#       (string "i32")))
#   (param BLOCK
#     (annotation
#       (attribute constexpr
#         (name tl)))
#     (default
#       (int 128)))
#   (keyword_param flag
#     (default
#       (None)))
#   (body
#     (expr
#       (string "Adds."))
#     (assign
#       (target
#         (name pid))
#       (call
#         (attribute program_id
#           (name tl))
#         (int 0)))
#     (assign
#       (target
#         (name offs))
#       (binary +
#         (binary *
#           (name pid)
#           (name BLOCK))
#         (call
#           (attribute arange
#             (name tl))
#           (int 0)
#           (name BLOCK))))
#     (assign
#       (target
#         (name x))
#       (call
#         (attribute load
#           (name tl))
#         (binary +
#           (name x_ptr)
#           (name offs))
#         (mask =
#           (compare <
#             (name offs)
#             (name n)))
#         (other =
#           (float 0))))
#     (expr
#       (call
#         (attribute store
#           (name tl))
#         (binary +
#           (name x_ptr)
#           (name offs))
#         (name x)))))
