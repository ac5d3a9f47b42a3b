# test: describe
import itertools
import triton
TILES = [(32, 64), (64, 128)]
BASE = [triton.Config({"M": 16, "N": 16}, num_warps=1)]

def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == "hip"

def make_configs(stages=(2, 3)):
    """Large tiles want more warps."""
    configs = []
    for (m, n), s in itertools.product(TILES, stages):
        if m * n > 4096 and s == 3:
            continue
        warps = 4 if m < 64 else 8
        configs.append(triton.Config({"M": m, "N": n}, num_warps=warps, num_stages=s))
    if is_hip():
        configs = []
    return configs

def keep(config):
    return config.kwargs["N"] < 128

@triton.autotune(make_configs(), key=[])
@triton.jit
def function(M: tl.constexpr, N: tl.constexpr): pass

@triton.autotune(configs=BASE + [triton.Config({"M": m, "N": 2 ** e}, num_warps=w)
                                 for m in range(32, 65, 32) for e in [5, 6] for w in (4, 8)
                                 if m >= 2 ** e or w == 4], key="M")
@triton.jit
def comprehension(M: tl.constexpr, N: tl.constexpr): pass

@lib.cached_autotune(configs=list(filter(keep, make_configs(stages=[1]))), key=["n"])
@triton.jit
def filtered(n, M: tl.constexpr, N: tl.constexpr): pass
# --- expected
# kernel function
#   param M constexpr
#   param N constexpr
#   config M=32 N=64; warps=4 stages=2
#   config M=32 N=64; warps=4 stages=3
#   config M=64 N=128; warps=8 stages=2
# kernel comprehension
#   param M constexpr
#   param N constexpr
#   config M=16 N=16; warps=1 stages=3
#   config M=32 N=32; warps=4 stages=3
#   config M=32 N=32; warps=8 stages=3
#   config M=32 N=64; warps=4 stages=3
#   config M=64 N=32; warps=4 stages=3
#   config M=64 N=32; warps=8 stages=3
#   config M=64 N=64; warps=4 stages=3
#   config M=64 N=64; warps=8 stages=3
#   key M
# kernel filtered
#   param n
#   param M constexpr
#   param N constexpr
#   config M=32 N=64; warps=4 stages=1
#   key n
