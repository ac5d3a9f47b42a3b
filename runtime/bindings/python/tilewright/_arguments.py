"""From Python objects to values of a call."""
import ctypes
import math

from . import _library as c


class dtype(str):
    """An element type as a constant, e.g. dtype("f16"); Triton's names (float16) are known too."""

    _ALIASES = {
        "bool": "i1", "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
        "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16", "half": "f16",
        "fp16": "f16", "bfloat16": "bf16", "float32": "f32", "float": "f32", "fp32": "f32",
        "float64": "f64", "double": "f64", "fp64": "f64", "float8e4nv": "f8e4m3",
        "float8_e4m3fn": "f8e4m3", "fp8e4nv": "f8e4m3", "float8e5": "f8e5m2", "float8_e5m2": "f8e5m2",
        "fp8e5": "f8e5m2",
    }

    def __new__(cls, name):
        word = str(name).rsplit(".", 1)[-1]  # torch.float16, tl.float16
        word = cls._ALIASES.get(word, word)
        if word not in c.DTYPES:
            raise ValueError(f"there is no element type {name!r}; the types are {', '.join(c.DTYPES)}")
        return super().__new__(cls, word)

    @property
    def index(self):
        return c.DTYPES.index(self)


class Pointer:
    """An address with the type of what lies there; `owner` is kept alive as long as it is. `place` is
    "host" or "cuda" where that is known."""

    def __init__(self, address, element, nbytes=0, owner=None, place=None):
        self.address, self.dtype, self.nbytes = int(address), dtype(element), int(nbytes)
        self.owner, self.place = owner, place


_BUFFER_FORMATS = {"?": "i1", "b": "i8", "B": "u8", "h": "i16", "H": "u16", "i": "i32", "I": "u32",
                   "q": "i64", "Q": "u64", "e": "f16", "f": "f32", "d": "f64",
                   "l": "i64" if ctypes.sizeof(ctypes.c_long) == 8 else "i32",
                   "L": "u64" if ctypes.sizeof(ctypes.c_long) == 8 else "u32"}


def _from_interface(interface, owner, place):
    # NumPy's and Numba's array interfaces: https://numpy.org/doc/stable/reference/arrays.interface.html
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    letter = {"b": "i", "i": "i", "u": "u", "f": "f"}.get(kind)
    name = "i1" if kind == "b" else f"{letter}{size * 8}" if letter else ""
    if name not in c.DTYPES or interface["typestr"][0] == ">":
        raise TypeError(f"elements of type {interface['typestr']} are not supported")
    shape, strides = interface["shape"], interface.get("strides")
    return Pointer(interface["data"][0], name, _extent(shape, strides, size), owner, place)


def _extent(shape, strides, size):
    """Bytes from the first element to the end of the last; 0 (unknown) for negative strides."""
    if any(extent == 0 for extent in shape):
        return 0
    if strides is None:
        return math.prod(shape) * size
    if any(stride < 0 for stride in strides):
        return 0
    return sum((extent - 1) * stride for extent, stride in zip(shape, strides)) + size


def _from_torch_like(tensor):
    name = dtype(tensor.dtype)
    size = c.DTYPE_BYTES[name]
    nbytes = 0
    if hasattr(tensor, "shape") and callable(getattr(tensor, "stride", None)):
        nbytes = _extent(tuple(tensor.shape), tuple(s * size for s in tensor.stride()), size)
    is_cuda = getattr(tensor, "is_cuda", None)
    place = None if is_cuda is None else "cuda" if is_cuda else "host"
    return Pointer(tensor.data_ptr(), name, nbytes, tensor, place)


class _DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _DLDevice), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


# DLDataTypeCode: int, uint, float, bfloat, bool, float8_e4m3fn, float8_e5m2.
_DL_CODES = {0: "i", 1: "u", 2: "f"}
_DL_NAMES = {4: "bf16", 6: "i1", 10: "f8e4m3", 12: "f8e5m2"}


def _from_dlpack(tensor):
    capsule = tensor.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    view = _DLTensor.from_address(get(capsule, b"dltensor"))
    name = _DL_NAMES.get(view.code) or f"{_DL_CODES.get(view.code, '?')}{view.bits}"
    if name not in c.DTYPES or view.lanes != 1:
        raise TypeError(f"DLPack elements of code {view.code} with {view.bits} bits are not supported")
    size = max(1, view.bits // 8)
    shape = [view.shape[i] for i in range(view.ndim)]
    strides = [view.strides[i] * size for i in range(view.ndim)] if view.strides else None
    # The capsule goes away here and takes its export with it; the tensor itself stays the owner.
    place = {1: "host", 2: "cuda"}.get(view.device.type)
    return Pointer((view.data or 0) + view.byte_offset, name, _extent(shape, strides, size), tensor, place)


def _from_buffer(owner):
    view = memoryview(owner)
    if view.format.lstrip("@=<") not in _BUFFER_FORMATS:
        raise TypeError(f"elements of format {view.format!r} are not supported")
    if not view.contiguous:
        raise TypeError("a buffer that is not contiguous has no single address")
    if view.readonly:
        raise TypeError("a read-only buffer cannot be passed; kernels may write")
    address = ctypes.addressof((ctypes.c_char * max(1, view.nbytes)).from_buffer(view)) if view.nbytes else 0
    return Pointer(address, _BUFFER_FORMATS[view.format.lstrip("@=<")], view.nbytes, owner, "host")


def pointer(value, element=None):
    """The memory of anything that has some: Pointer, tilewright.Buffer, NumPy and CUDA arrays, objects
    with data_ptr() and dtype, DLPack, ctypes and array.array. `element` overrides the element type."""
    found = _find_pointer(value)
    if found is None:
        raise TypeError(f"{type(value).__name__} has no memory that a kernel could use")
    return Pointer(found.address, element, found.nbytes, value, found.place) if element else found


def _find_pointer(value):
    if isinstance(value, Pointer):
        return value
    # Before the array interfaces, which have no name for bfloat16 and fp8.
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return _from_torch_like(value)
    for name, place in (("__cuda_array_interface__", "cuda"), ("__array_interface__", "host")):
        if (interface := getattr(value, name, None)) is not None:
            return _from_interface(interface, value, place)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    try:
        memoryview(value)
    except TypeError:
        return None
    return _from_buffer(value)


def to_value(name, value, keep, place=None):
    """A tw_value. `keep` collects objects that must live until the call has returned. Memory known to lie
    elsewhere than `place` is refused: a kernel that touches it would bring down the process or context."""
    out = c.Value()
    out.name = name.encode() if name is not None else None
    if value is None:
        out.kind = c.NONE
    elif isinstance(value, bool):
        out.kind, out.integer = c.BOOL, value
    elif isinstance(value, int):
        if not -2**63 <= value < 2**64:
            raise OverflowError(f"{value} does not fit into 64 bits")
        out.kind = c.INT if value < 2**63 else c.UINT
        out.integer = value if value < 2**63 else value - 2**64
    elif isinstance(value, float):
        out.kind, out.number = c.FLOAT, value
    elif isinstance(value, dtype):
        out.kind, out.dtype = c.DTYPE, value.index
    elif isinstance(value, str):
        out.kind, out.string = c.STRING, value.encode()
    elif (found := _find_pointer(value)) is not None:
        if place and found.place and found.place != place:
            where = {"host": "host memory", "cuda": "CUDA memory"}
            raise TypeError(f"argument {name or ''} of type {type(value).__name__} lies in {where[found.place]}, "
                            f"but the kernel runs on {where[place]}")
        keep.append(found)
        out.kind, out.dtype = c.POINTER, found.dtype.index
        out.pointer, out.bytes = found.address or None, found.nbytes
    elif hasattr(value, "__index__"):  # NumPy integers
        return to_value(name, value.__index__(), keep, place)
    elif hasattr(value, "__float__"):
        return to_value(name, float(value), keep, place)
    else:
        raise TypeError(f"argument {name or ''} of type {type(value).__name__} is not supported")
    return out
