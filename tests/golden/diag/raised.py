# test: diag arg=x=*f32 const=MODE=fast
import triton
import triton.language as tl


@triton.jit
def kernel(x, MODE: tl.constexpr):
    if MODE == "fast":
        raise ValueError(f"no mode {MODE}")
    raise NotImplementedError
# --- expected
# raised.py:8:9: error: the kernel raises: no mode fast [raised]
#           raise ValueError(f"no mode {MODE}")
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# raised.py:9:5: error: the kernel raises an error for these arguments [raised]
#       raise NotImplementedError
#       ^~~~~~~~~~~~~~~~~~~~~~~~~
