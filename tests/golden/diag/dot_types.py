# test: diag arg=h=*f16 arg=x=*f32
import triton
import triton.language as tl


@triton.jit
def kernel(h, x):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    a = tl.load(h + at)
    s = tl.load(x + at)
    b = tl.dot(a, s)
    c = tl.dot(a, a, acc=at)
    d = tl.dot(a, a, out_dtype=tl.bfloat16)
    e = tl.dot(s, s, input_precision="exact")
    f = tl.dot(s, s, allow_tf32=True, input_precision="ieee")
    g = tl.dot(at, at)
# --- expected
# dot_types.py:11:9: error: tl.dot needs operands of one dtype, but they are float16[16, 16] and float32[16, 16]; convert one with .to() [type-mismatch]
#       b = tl.dot(a, s)
#           ^~~~~~~~~~~~
# dot_types.py:12:26: error: tl.dot adds to float32[16, 16], but acc is int32[16, 16] [type-mismatch]
#       c = tl.dot(a, a, acc=at)
#                            ^~
# dot_types.py:13:32: error: tl.dot has no bfloat16 result; use float32 and convert with .to(tl.bfloat16) [bad-argument]
#       d = tl.dot(a, a, out_dtype=tl.bfloat16)
#                                  ^~~~~~~~~~~
# dot_types.py:14:38: error: input_precision is 'tf32', 'tf32x3', 'bf16x3', 'bf16x6' or 'ieee', not 'exact' [bad-argument]
#       e = tl.dot(s, s, input_precision="exact")
#                                        ^~~~~~~
# dot_types.py:15:33: error: allow_tf32 and input_precision exclude each other; keep input_precision [bad-argument]
#       f = tl.dot(s, s, allow_tf32=True, input_precision="ieee")
#                                   ^~~~
# dot_types.py:16:16: error: tl.dot multiplies int8, uint8, fp8, float16, bfloat16, float32 and float64, but this is int32[16, 16] [type-mismatch]
#       g = tl.dot(at, at)
#                  ^~
