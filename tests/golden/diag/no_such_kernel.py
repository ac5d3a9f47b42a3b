# test: diag kernel=missing
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    pass
# --- expected
# error: there is no kernel 'missing' [unknown-name]
# hint: the file's jit functions are: kernel
