"""Tilewright from Python: Triton kernels on NumPy arrays, tensors of any framework, or plain memory.

    import tilewright
    add = tilewright.compile("add.py", "add")
    add[tilewright.cdiv(n, 1024)](x, y, out, n, BLOCK=1024, num_warps=4)

Needs neither Triton nor a framework; the work is done by libtilewright.so.
"""
from ._arguments import Pointer, dtype, pointer
from ._kernel import Buffer, Context, Kernel, cdiv, compile, default_context
from ._library import TilewrightError, version

__all__ = [
    "Buffer", "Context", "Kernel", "Pointer", "TilewrightError", "cdiv", "compile",
    "default_context", "dtype", "pointer", "version",
]
