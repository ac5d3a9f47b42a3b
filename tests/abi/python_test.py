"""The Python package over the shared library, with the standard library's containers as tensors; with
NumPy too where there is one. Run with PYTHONPATH at the package and TILEWRIGHT_LIBRARY set."""
import array
import ctypes
import os
import sys
import tempfile
import unittest

import tilewright
from tilewright import _arguments

try:
    import numpy
except ImportError:
    numpy = None

TEXT = '''
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, MODE: tl.constexpr = "plain"):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if MODE == "square":
        x = x * x
    tl.store(out_ptr + offsets, x * factor, mask=mask)
'''


def context():
    return tilewright.Context("interp", cache="off")


class Launches(unittest.TestCase):
    def test_arrays_of_the_standard_library(self):
        scale = context().compile(TEXT, "scale")
        x, out = array.array("f", range(100)), array.array("f", [-1] * 100)
        scale[(4,)](x, out, 99, 0.5, BLOCK=32, num_warps=4)
        self.assertEqual(list(out), [0.5 * i for i in range(99)] + [-1])
        y = (ctypes.c_double * 8)(*range(8))
        scale[lambda meta: (tilewright.cdiv(meta["n"], meta["BLOCK"]),)](y, y, 8, 2.0, BLOCK=4, MODE="square")
        self.assertEqual(list(y), [2.0 * i * i for i in range(8)])

    def test_grids(self):
        scale = context().compile(TEXT, "scale")
        x = array.array("f", [1, 2, 3, 4])
        scale[0](x, x, 4, 2.0, BLOCK=4)
        scale[(0, 0, 0)](x, x, 4, 2.0, BLOCK=4)
        self.assertEqual(list(x), [1, 2, 3, 4])
        scale[1](x, x, n=4, factor=2.0, BLOCK=4)
        self.assertEqual(list(x), [2, 4, 6, 8])
        for grid in ((1, 1, 1, 1), (-1,)):
            with self.assertRaises(ValueError):
                scale[grid](x, x, 4, 2.0, BLOCK=4)

    def test_files_and_repr(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scale.py")
            with open(path, "w") as file:
                file.write(TEXT)
            scale = context().compile(path, "scale")
        self.assertEqual(repr(scale), "<tilewright kernel scale(x_ptr, out_ptr, n, factor, BLOCK: constexpr, "
                                      "MODE: constexpr)>")
        self.assertEqual(scale.parameters[4], "BLOCK")

    def test_environment(self):
        text = "@triton.jit\ndef k(x):\n    tl.store(x, f(tl.load(x)) * FACTOR)\n"
        other = "@triton.jit\ndef plus(x):\n    return x + AMOUNT\n"
        k = context().compile(text, "k", {"FACTOR": 2.0, "f": ("plus", other, {"AMOUNT": 20.0})})
        x = array.array("f", [1])
        k[1](x)
        self.assertEqual(x[0], 42)

    def test_prepare_and_counters(self):
        made = context()
        scale = made.compile(TEXT, "scale")
        x = array.array("f", [1] * 4)
        info = scale.prepare(x, x, 4, 2.0, BLOCK=4)
        self.assertGreater(info["compile_ms"], 0)
        self.assertEqual(made.cache["compiled"], 1)
        self.assertEqual(made.device["kind"], "interp")

    def test_cubin(self):
        scale = context().compile(TEXT, "scale")
        x = tilewright.Pointer(256, "bf16")
        try:
            code, entry, threads, shared = scale.cubin("sm_80", x, x, 1000, 2.0, BLOCK=256, num_warps=8)
        except tilewright.TilewrightError as error:
            self.assertEqual(error.kind, "no-nvrtc")
            self.skipTest("no NVRTC")
        self.assertEqual(code[:4], b"\x7fELF")
        self.assertEqual(threads, 256)
        bounded = scale.cubin("sm_80", x, x, 1000, 2.0, BLOCK=256, num_warps=8, maxnreg=24)
        self.assertNotEqual(code, bounded[0])

    def test_buffers(self):
        buffer = context().allocate(16, "f32")
        buffer.upload(array.array("f", [1, 2, 3, 4]))
        scale = context().compile(TEXT, "scale")
        scale[1](buffer, buffer, 4, 3.0, BLOCK=4)
        self.assertEqual(array.array("f", bytes(buffer.download())).tolist(), [3, 6, 9, 12])


class Errors(unittest.TestCase):
    def test_kinds(self):
        scale = context().compile(TEXT, "scale")
        x = array.array("f", [1] * 8)
        with self.assertRaises(tilewright.TilewrightError) as caught:
            scale[1](x, x, 8, BLOCK=8)
        self.assertEqual((caught.exception.kind, caught.exception.status), ("missing-argument", "bad-call"))
        with self.assertRaises(tilewright.TilewrightError) as caught:
            scale[1](x, x, 9, 1.0, BLOCK=16)
        self.assertEqual(caught.exception.kind, "out-of-bounds")
        with self.assertRaises(tilewright.TilewrightError) as caught:
            scale[1](x, x, 8, 1.0, BLOCK=8, WARPS=2)
        self.assertEqual(caught.exception.kind, "unknown-argument")
        with self.assertRaises(tilewright.TilewrightError) as caught:
            context().compile(TEXT, "nothing")
        self.assertEqual(caught.exception.kind, "no-kernel")
        with self.assertRaises(tilewright.TilewrightError) as caught:
            tilewright.Context("abacus")
        self.assertEqual(caught.exception.status, "no-device")

    def test_memory_in_the_wrong_place(self):
        class Cuda:
            __cuda_array_interface__ = {"data": (4096, False), "typestr": "<f4", "shape": (8,), "strides": None}

        x = array.array("f", [1] * 8)
        with self.assertRaisesRegex(TypeError, "lies in CUDA memory, but the kernel runs on host memory"):
            context().compile(TEXT, "scale")[1](Cuda(), x, 8, 1.0, BLOCK=8)

    def test_values_that_are_none(self):
        scale = context().compile(TEXT, "scale")
        x = array.array("f", [1] * 8)
        with self.assertRaises(TypeError):
            scale[1](object(), x, 8, 1.0, BLOCK=8)
        with self.assertRaises(TypeError):
            scale[1](b"read only", x, 8, 1.0, BLOCK=8)
        with self.assertRaises(OverflowError):
            scale[1](x, x, 2**64, 1.0, BLOCK=8)
        with self.assertRaises(ValueError):
            tilewright.dtype("f12")


class FakeTensor:
    """What frameworks' tensors show of themselves."""

    def __init__(self, data, name, shape, strides):
        self.data, self.dtype, self.shape, self.strides = data, name, shape, strides

    def data_ptr(self):
        return ctypes.addressof(self.data)

    def stride(self):
        return self.strides


class Arguments(unittest.TestCase):
    def test_framework_tensors(self):
        data = (ctypes.c_uint16 * 8)()
        found = tilewright.pointer(FakeTensor(data, "torch.bfloat16", (2, 2), (4, 1)))
        self.assertEqual((found.dtype, found.nbytes), ("bf16", 12))
        self.assertEqual(found.address, ctypes.addressof(data))
        self.assertEqual(tilewright.pointer(FakeTensor(data, "torch.float8_e4m3fn", (16,), (1,))).nbytes, 16)

    def test_frameworks_own_dtype_goes_before_the_array_interface(self):
        # The interface has no name for bfloat16; frameworks export it as raw bytes.
        data = (ctypes.c_uint16 * 4)()
        tensor = FakeTensor(data, "torch.bfloat16", (4,), (1,))
        tensor.__cuda_array_interface__ = {"data": (4096, False), "typestr": "<V2", "shape": (4,), "strides": None}
        found = tilewright.pointer(tensor)
        self.assertEqual((found.address, found.dtype), (ctypes.addressof(data), "bf16"))

    def test_array_interfaces(self):
        class Cuda:
            __cuda_array_interface__ = {"data": (4096, False), "typestr": "<f2", "shape": (3, 4), "strides": None}

        found = tilewright.pointer(Cuda())
        self.assertEqual((found.address, found.dtype, found.nbytes), (4096, "f16", 24))
        Cuda.__cuda_array_interface__["typestr"] = "|b1"
        self.assertEqual(tilewright.pointer(Cuda()).dtype, "i1")
        Cuda.__cuda_array_interface__["typestr"] = "<c8"
        with self.assertRaises(TypeError):
            tilewright.pointer(Cuda())

    def test_dlpack(self):
        view, shape = _arguments._DLTensor(), (ctypes.c_int64 * 2)(3, 5)
        view.data, view.ndim, view.code, view.bits, view.lanes = 8192, 2, 4, 16, 1
        view.shape, view.byte_offset = shape, 64
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        class Tensor:
            def __dlpack__(self):
                return new(ctypes.addressof(view), b"dltensor", None)

        found = tilewright.pointer(Tensor())
        self.assertEqual((found.address, found.dtype, found.nbytes), (8256, "bf16", 30))

    def test_dtypes(self):
        for name, expected in (("tl.float16", "f16"), ("torch.int64", "i64"), ("fp8e5", "f8e5m2"), ("u8", "u8")):
            self.assertEqual(tilewright.dtype(name), expected)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_numpy(self):
        scale = context().compile(TEXT, "scale")
        x = numpy.arange(10, dtype=numpy.float32)
        out = numpy.zeros_like(x)
        scale[1](x, out, numpy.int64(10), numpy.float32(0.5), BLOCK=16)
        self.assertTrue((out == x / 2).all())


if __name__ == "__main__":
    print("tilewright", tilewright.version(), "python", sys.version.split()[0])
    unittest.main()
