# test: parse
"""Module docstring with 'quotes' and (brackets."""
from __future__ import annotations
import torch

if torch.cuda.is_available():
    import triton
    from triton.language.extra.hip import libdevice
    DEVICE = "cuda"
else:
    triton = None
    DEVICE = "cpu"

try:
    import triton.language as tl
except ImportError:
    tl = None

print(f"{torch.__version__!r}")
async def main():
    async with x as y, z: await y

def host(x, /, y: int = (lambda: 1)(), *args):
    match x:
        case {"a": [1, *rest]} if rest: return f"{x["nested"]}"
        case _:
            try: pass
            except* ValueError as e: raise
    text = """
def not_a_function():
"""
    @triton.jit
    def nested(x, B: tl.constexpr):
        tl.store(x, B)
    del x[0]; global q

type Alias[T] = list[T]
class Config:
    size: int = 3
    def method(self): pass

class Ops:
    SCALE = 2
    @staticmethod
    @triton.jit
    def act(x):
        return x
    class Inner:
        @jit
        def g(): pass

@jax.jit
def other(x):
    try: pass
    finally: pass

BIG = 0xffffffffffffffffffffffff
for i in range(3):
    @triton.jit(do_not_specialize=["n"])
    def looped(n): pass
# --- expected
# (import
#   (from __future__ annotations as annotations))
# (import
#   (from torch as torch))
# (import
#   (from triton as triton))
# (assign
#   (target
#     (name DEVICE))
#   (string "cuda"))
# (assign
#   (target
#     (name DEVICE))
#   (string "cpu"))
# (import
#   (from triton.language as tl))
# (function nested
#   (decorator
#     (attribute jit
#       (name triton)))
#   (param x)
#   (param B
#     (annotation
#       (attribute constexpr
#         (name tl))))
#   (body
#     (expr
#       (call
#         (attribute store
#           (name tl))
#         (name x)
#         (name B)))))
# (class Ops
#   (body
#     (assign
#       (target
#         (name SCALE))
#       (int 2))
#     (function act
#       (decorator
#         (name staticmethod))
#       (decorator
#         (attribute jit
#           (name triton)))
#       (param x)
#       (body
#         (return
#           (name x))))
#     (class Inner
#       (body
#         (function g
#           (decorator
#             (name jit))
#           (body
#             (pass)))))))
# (assign
#   (target
#     (name BIG))
#   (unsupported "an integer of more than 64 bits"))
# (function looped
#   (decorator
#     (call
#       (attribute jit
#         (name triton))
#       (do_not_specialize =
#         (list
#           (string "n")))))
#   (param n)
#   (body
#     (pass)))
