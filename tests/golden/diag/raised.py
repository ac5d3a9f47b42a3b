# test: diag arg=x=*f32 const=MODE=fast
import triton
import triton.language as tl


@triton.jit
def kernel(x, MODE: tl.constexpr):
    if MODE == "fast":
        raise ValueError(f"no mode {MODE}")
    raise NotImplementedError
