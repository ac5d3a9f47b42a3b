"""The shared library and the C interface's structs and functions (tilewright.h)."""
import ctypes
import os
from ctypes import c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

NONE, BOOL, INT, UINT, FLOAT, POINTER, STRING, DTYPE = range(8)
DTYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
          "f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64")
DTYPE_BYTES = {name: max(1, int("".join(ch for ch in name.split("e")[0] if ch.isdigit())) // 8)
               for name in DTYPES}
_STATUS = ("ok", "invalid-argument", "bad-call", "bad-kernel", "no-device", "out-of-resources",
           "device-error", "run-error", "io", "internal")


class TilewrightError(Exception):
    """What the library reports. `kind` is the diagnostic's name, e.g. "missing-argument"; `status`
    is its class, e.g. "bad-call"."""

    def __init__(self, message, kind, status):
        super().__init__(message)
        self.kind = kind
        self.status = status


class _As(ctypes.Union):
    _fields_ = [("integer", c_int64), ("number", c_double), ("pointer", c_void_p), ("string", c_char_p)]


class Value(ctypes.Structure):
    _anonymous_ = ("as_",)
    _fields_ = [("name", c_char_p), ("kind", c_int32), ("dtype", c_int32), ("as_", _As), ("bytes", c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("device", c_char_p), ("cache", c_char_p)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_char_p), ("name", c_char_p), ("target", c_char_p),
                ("ordinal", c_int32), ("multiprocessors", c_int32), ("memory_bytes", c_uint64)]


class CacheInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("compiled", c_uint64), ("memory_hits", c_uint64),
                ("disk_hits", c_uint64)]


class LaunchOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("grid", c_uint32 * 3), ("num_warps", c_int32),
                ("num_stages", c_int32), ("stream", c_void_p), ("no_fp_fusion", c_int32),
                ("debug", c_int32), ("threads", c_int32), ("maxnreg", c_int32)]


class KernelInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("registers", c_int32), ("shared_bytes", c_int32),
                ("stack_bytes", c_int32), ("spills", c_int32), ("threads", c_int32),
                ("from_disk", c_int32), ("compile_ms", c_double)]


def _candidates():
    if named := os.environ.get("TILEWRIGHT_LIBRARY"):
        return [named]
    here = Path(__file__).resolve().parent
    return [str(here / "libtilewright.so"), "libtilewright.so.0", "libtilewright.so"]


def _load():
    problems = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            problems.append(str(error))
    raise ImportError("libtilewright.so was not found; set TILEWRIGHT_LIBRARY to its path\n  "
                      + "\n  ".join(problems))


lib = _load()


def _declare():
    handle, status = c_void_p, c_int32
    out = ctypes.POINTER(c_void_p)
    options, values = ctypes.POINTER(LaunchOptions), ctypes.POINTER(Value)
    signatures = {
        "tw_last_error": (c_char_p,),
        "tw_last_error_kind": (c_char_p,),
        "tw_version": (c_char_p,),
        "tw_context_create": (status, ctypes.POINTER(ContextOptions), out),
        "tw_context_destroy": (None, handle),
        "tw_context_device": (status, handle, ctypes.POINTER(DeviceInfo)),
        "tw_context_synchronize": (status, handle, c_void_p),
        "tw_context_cache": (status, handle, ctypes.POINTER(CacheInfo)),
        "tw_environment_create": (status, out),
        "tw_environment_destroy": (None, handle),
        "tw_environment_set": (status, handle, c_char_p, values),
        "tw_environment_set_function": (status, handle, c_char_p, c_char_p, c_char_p, handle),
        "tw_kernel_from_source": (status, handle, c_char_p, c_char_p, c_char_p, handle, out),
        "tw_kernel_from_file": (status, handle, c_char_p, c_char_p, handle, out),
        "tw_kernel_destroy": (None, handle),
        "tw_kernel_signature": (c_char_p, handle),
        "tw_kernel_parameter_count": (c_size_t, handle),
        "tw_kernel_parameter_name": (c_char_p, handle, c_size_t),
        "tw_kernel_parameter_is_constexpr": (c_int32, handle, c_size_t),
        "tw_kernel_launch": (status, handle, options, values, c_size_t),
        "tw_kernel_prepare": (status, handle, options, values, c_size_t, ctypes.POINTER(KernelInfo)),
        "tw_kernel_compile": (status, handle, c_char_p, options, values, c_size_t, out),
        "tw_code_destroy": (None, handle),
        "tw_code_cubin": (c_void_p, handle, ctypes.POINTER(c_size_t)),
        "tw_code_entry": (c_char_p, handle),
        "tw_code_threads": (c_int32, handle),
        "tw_code_dynamic_shared_bytes": (c_int32, handle),
        "tw_buffer_create": (status, handle, c_size_t, out),
        "tw_buffer_destroy": (None, handle),
        "tw_buffer_data": (c_void_p, handle),
        "tw_buffer_bytes": (c_size_t, handle),
        "tw_buffer_upload": (status, handle, c_void_p, c_size_t, c_void_p),
        "tw_buffer_download": (status, handle, c_void_p, c_size_t, c_void_p),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments


_declare()


def check(status):
    """Raises what the library's last call on this thread reported."""
    if status != 0:
        raise TilewrightError(lib.tw_last_error().decode(), lib.tw_last_error_kind().decode(),
                              _STATUS[status])


def sized(struct):
    """A zeroed options or info struct that says its size."""
    out = struct()
    out.struct_size = ctypes.sizeof(struct)
    return out


def version():
    return lib.tw_version().decode()
