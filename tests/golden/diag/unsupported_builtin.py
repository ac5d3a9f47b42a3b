# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    a = tl.dot_scaled(v, v, "e4m3", v, v, "e4m3")
    b = tl.inline_asm_elementwise("mov", "=r,r", [v], tl.float32, True, 1)
    c = v.to(tl.float8e4b15)
    print("v", v)
