# test: describe
def endless():
    out = []
    for i in range(100000):
        for j in range(100000):
            out = i + j
    return out
def recursive(x):
    return recursive(x + 1)
SELF = SELF + [1]
@triton.autotune(configs=get_from_elsewhere(), key=["n"])
@triton.jit
def unknown(n): pass
@triton.autotune(configs=[triton.Config({"A": n}, num_warps="many")], key=["n"])
@triton.jit
def bad_warps(n, A: tl.constexpr): pass
@triton.autotune(configs=[triton.Config({"A": 1}), 3], key=["n"])
@triton.jit
def not_a_config(n, A: tl.constexpr): pass
@triton.autotune(configs=endless(), key=["n"])
@triton.jit
def too_long(n): pass
@triton.autotune(configs=recursive(1), key=["n"])
@triton.jit
def too_deep(n): pass
@triton.autotune(configs=SELF, key=["n"])
@triton.jit
def circular(n): pass
@triton.autotune(configs=[triton.Config({"A": [1, 2][5]})], key=["n"])
@triton.jit
def index(n, A: tl.constexpr): pass
@triton.autotune(configs=[], key=[1.5])
@triton.jit
def bad_key(n): pass
# --- expected
# kernel unknown
#   param n
#   no configs: config_errors.py:10:26: error: 'get_from_elsewhere' is not evaluated on the host [unsupported-host-code]
#   @triton.autotune(configs=get_from_elsewhere(), key=["n"])
#                            ^~~~~~~~~~~~~~~~~~~~
#   key n
# kernel bad_warps
#   param n
#   param A constexpr
#   no configs: config_errors.py:13:27: error: the value of 'A' is not evaluated on the host [unsupported-host-code]
#   @triton.autotune(configs=[triton.Config({"A": n}, num_warps="many")], key=["n"])
#                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#   key n
# kernel not_a_config
#   param n
#   param A constexpr
#   no configs: error: the configs of 'not_a_config' hold something that is no triton.Config [unsupported-host-code]
#   key n
# kernel too_long
#   param n
#   no configs: config_errors.py:5:23: error: this host code runs too long [unsupported-host-code]
#               out = i + j
#                         ^
#   key n
# kernel too_deep
#   param n
#   no configs: config_errors.py:8:12: error: host functions call each other too deeply [unsupported-host-code]
#       return recursive(x + 1)
#              ^~~~~~~~~~~~~~~~
#   key n
# kernel circular
#   param n
#   no configs: config_errors.py:9:8: error: 'SELF' is defined by itself [unsupported-host-code]
#   SELF = SELF + [1]
#          ^~~~
#   key n
# kernel index
#   param n
#   param A constexpr
#   no configs: config_errors.py:28:47: error: index 5 is outside of a list of 2 [unsupported-host-code]
#   @triton.autotune(configs=[triton.Config({"A": [1, 2][5]})], key=["n"])
#                                                 ^~~~~~~~~
#   key n
# error: key of 'bad_key' must hold names or indices of parameters, not 1.5 [bad-argument]
