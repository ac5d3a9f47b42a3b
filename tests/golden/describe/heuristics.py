# test: describe bind=n=1000 bind=m=64 bind=flag=True
import triton
def warps(args):
    if args["n"] >= 512:
        return 8
    return 4
@triton.heuristics({
    "BLOCK": lambda args: triton.next_power_of_2(args["n"]),
    "EVEN": lambda args: args["m"] % 16 == 0 and args["n"] % 16 == 0,
    "GRID": lambda args: min(triton.cdiv(args["n"], args["BLOCK"]), 4),
})
@triton.heuristics(values={
    "HAS_BIAS": lambda args: args["bias"] is not None,
    "WARPS": warps,
    "K": lambda args: 1 if args.get("missing", None) is None else 2,
    "flag": lambda a: a["bias"].dtype == torch.float32,
})
@triton.jit
def kernel(x, bias, n, m, flag, BLOCK: tl.constexpr, EVEN: tl.constexpr, GRID: tl.constexpr,
           HAS_BIAS: tl.constexpr, WARPS: tl.constexpr, K: tl.constexpr): pass

@triton.heuristics({"SMALL": lambda args: args["x"].numel() < 100})
@triton.jit
def unknown(x, SMALL: tl.constexpr): pass
@triton.heuristics({"SUM": lambda args: args["x"] + 1})
@triton.jit
def pointer(x, SUM: tl.constexpr): pass
# --- expected
# kernel kernel
#   param x
#   param bias
#   param n
#   param m
#   param flag
#   param BLOCK constexpr
#   param EVEN constexpr
#   param GRID constexpr
#   param HAS_BIAS constexpr
#   param WARPS constexpr
#   param K constexpr
#   heuristics BLOCK EVEN GRID HAS_BIAS WARPS K flag
#   BLOCK -> 1024
#   EVEN -> False
#   GRID -> 1
#   HAS_BIAS -> True
#   K -> 1
#   WARPS -> 8
# kernel unknown
#   param x
#   param SMALL constexpr
#   heuristics SMALL
# heuristics.py:21:43: error: 'numel()' of the argument 'x' is not known on the host side [unsupported-host-code]
#   @triton.heuristics({"SMALL": lambda args: args["x"].numel() < 100})
#                                             ^~~~~~~~~~~~~~~~~
# kernel pointer
#   param x
#   param SUM constexpr
#   heuristics SUM
# heuristics.py:24:41: error: the value of the argument 'x' is not known on the host side [unsupported-host-code]
#   @triton.heuristics({"SUM": lambda args: args["x"] + 1})
#                                           ^~~~~~~~~~~~~
