# test: describe
import triton.language as tl
WIDTH: tl.constexpr = 4
SKIP = ["n"]
@triton.jit(do_not_specialize=SKIP, do_not_specialize_on_alignment=[0, "m"])
def kernel(a, n, m, x: tl.int64, y: "i32", p: "*fp16", q: "tl.uint8", r: int, s: float,
           t: tl.tensor, u: "*kbf16", BLOCK: tl.constexpr, W: "tl.constexpr" = WIDTH * 2,
           D: constexpr = tl.bfloat16, F: tl.constexpr | None = None, E: tl.constexpr = "",
           H: tl.constexpr = helper, z=-float('inf'), w=1.5, g=not_known()):
    pass
@triton.jit
def helper(x, *args, **kw): pass
class Ops:
    @triton.jit
    def inner(x: 'int32'): pass
# --- expected
# kernel kernel
#   param a do_not_specialize_on_alignment
#   param n do_not_specialize
#   param m do_not_specialize_on_alignment
#   param x : i64
#   param y : i32
#   param p : ptr<f16>
#   param q : u8
#   param r : i32
#   param s : f32
#   param t
#   param u : ptr<bf16>
#   param BLOCK constexpr
#   param W constexpr = 8
#   param D constexpr = bf16
#   param F constexpr = None
#   param E constexpr = ''
#   param H constexpr = helper
#   param z = -float('inf')
#   param w = 1.5
#   param g
# kernel helper
#   param x
# kernel Ops.inner
#   param x : i32
