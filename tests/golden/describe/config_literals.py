# test: describe
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64, "other_vendor": 1, "waves_per_eu": 2}, num_warps=2),
        triton.Config({"BLOCK": 128}, 8, 4, pre_hook=lambda args: args["x"].zero_()),
        triton.Config(kwargs={"BLOCK": 256, "num_warps": 16}, num_stages=1, maxnreg=128),
        triton.Config({}),
    ],
    key=["n", "m"], reset_to_zero=["out"], restore_value=("x",), prune_configs_by={"top_k": 3})
@triton.jit
def kernel(x, out, n, m, BLOCK: tl.constexpr): pass
# --- expected
# kernel kernel
#   param x
#   param out
#   param n
#   param m
#   param BLOCK constexpr
#   config BLOCK=64; warps=2 stages=3
#   config BLOCK=128; warps=8 stages=4
#   config BLOCK=256; warps=16 stages=1 maxnreg=128
#   config; warps=4 stages=3
#   key n m
#   reset_to_zero out
#   restore_value x
