# test: diag arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    a = tl.map_elementwise(v, v)
    b = tl.inline_asm_elementwise("mov", "=r,r", [v], tl.float32, True, 1)
    c = v.to(tl.float8e4b15)
    print("v", v)
# --- expected
# unsupported_builtin.py:8:9: error: 'tl.map_elementwise' (a scalar function applied to each element) is not supported yet [unsupported-builtin]
#       a = tl.map_elementwise(v, v)
#           ^~~~~~~~~~~~~~~~~~~~~~~~
# unsupported_builtin.py:9:9: error: 'tl.inline_asm_elementwise' (PTX text applied to each element) is not supported yet [unsupported-builtin]
#       b = tl.inline_asm_elementwise("mov", "=r,r", [v], tl.float32, True, 1)
#           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# unsupported_builtin.py:10:14: error: 'tl.float8e4b15' (8-bit float with exponent bias 15) is not supported yet [unsupported-builtin]
#       c = v.to(tl.float8e4b15)
#                ^~~~~~~~~~~~~~
# unsupported_builtin.py:11:5: error: 'print' (prints values at run time) is not supported yet [unsupported-builtin]
#       print("v", v)
#       ^~~~~~~~~~~~~
