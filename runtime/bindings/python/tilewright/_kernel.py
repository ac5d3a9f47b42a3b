"""Contexts, kernels and buffers."""
import ctypes
import threading

from . import _arguments
from . import _library as c


def cdiv(a, b):
    """The quotient rounded up."""
    return -(-a // b)


class _Handle:
    """A handle of the library, destroyed with the object."""

    _destroy = None

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            self._destroy(handle)


class Context(_Handle):
    """A device and what was compiled for it: "auto", "cuda", "cuda:1", "cpu", "interp", "emulated:sm_90"."""

    _destroy = staticmethod(c.lib.tw_context_destroy)

    def __init__(self, device="auto", cache=None):
        options, out = c.sized(c.ContextOptions), ctypes.c_void_p()
        options.device = device.encode()
        options.cache = cache.encode() if cache is not None else None
        c.check(c.lib.tw_context_create(ctypes.byref(options), ctypes.byref(out)))
        super().__init__(out.value)
        self.place = "cuda" if self.device["kind"] == "cuda" else "host"  # where kernels' memory lies

    @property
    def device(self):
        """kind, name, target, ordinal, multiprocessors and memory_bytes as a dict."""
        info = c.sized(c.DeviceInfo)
        c.check(c.lib.tw_context_device(self._handle, ctypes.byref(info)))
        text = {key: getattr(info, key).decode() for key in ("kind", "name", "target")}
        return text | {key: getattr(info, key) for key in ("ordinal", "multiprocessors", "memory_bytes")}

    @property
    def cache(self):
        """Counts of what was compiled, found in memory, and found on disk."""
        info = c.sized(c.CacheInfo)
        c.check(c.lib.tw_context_cache(self._handle, ctypes.byref(info)))
        return {key: getattr(info, key) for key in ("compiled", "memory_hits", "disk_hits")}

    def compile(self, path_or_source, kernel, environment=None):
        """The kernel named `kernel` of a file, or of a text (which has line breaks). `environment`
        gives values to names that the text leaves free: constants, dtypes, or the name of a function
        as (function,), or (function, source, environment) for one of another text."""
        made = _environment(environment) if environment else None
        out = ctypes.c_void_p()
        handle = made._handle if made else None
        text = str(path_or_source).encode()
        if b"\n" in text:
            status = c.lib.tw_kernel_from_source(self._handle, text, None, kernel.encode(), handle,
                                                 ctypes.byref(out))
        else:
            status = c.lib.tw_kernel_from_file(self._handle, text, kernel.encode(), handle,
                                               ctypes.byref(out))
        c.check(status)
        return Kernel(out.value, self)

    def allocate(self, nbytes, element="u8"):
        """Memory of the device, as a Buffer of elements of a type."""
        return Buffer(self, nbytes, element)

    def synchronize(self, stream=None):
        c.check(c.lib.tw_context_synchronize(self._handle, stream))


class _Environment(_Handle):
    _destroy = staticmethod(c.lib.tw_environment_destroy)


def _environment(names):
    out = ctypes.c_void_p()
    c.check(c.lib.tw_environment_create(ctypes.byref(out)))
    made = _Environment(out.value)
    for name, value in names.items():
        if isinstance(value, tuple):
            function, source, inner = (value + (None, None))[:3]
            own = _environment(inner) if inner else None
            c.check(c.lib.tw_environment_set_function(
                made._handle, name.encode(), source.encode() if source else None, function.encode(),
                own._handle if own else None))
        else:
            converted = _arguments.to_value(None, value, [])
            c.check(c.lib.tw_environment_set(made._handle, name.encode(), ctypes.byref(converted)))
    return made


_OPTIONS = ("num_warps", "num_stages", "stream", "debug", "threads", "enable_fp_fusion", "maxnreg")


class Kernel(_Handle):
    """A kernel: `k[grid](x, y, n, BLOCK=1024, num_warps=4)`. The grid is a number, a tuple, or a
    function of the dict of all arguments by name, as in Triton."""

    _destroy = staticmethod(c.lib.tw_kernel_destroy)

    def __init__(self, handle, context):
        super().__init__(handle)
        self.context = context
        count = c.lib.tw_kernel_parameter_count(handle)
        self.parameters = [c.lib.tw_kernel_parameter_name(handle, i).decode() for i in range(count)]

    def __repr__(self):
        return f"<tilewright kernel {c.lib.tw_kernel_signature(self._handle).decode()}>"

    def __getitem__(self, grid):
        return lambda *args, **named: self.launch(grid, *args, **named)

    def launch(self, grid, *args, **named):
        options, values, _keep = self._call(grid, args, named)
        c.check(c.lib.tw_kernel_launch(self._handle, ctypes.byref(options), values, len(values)))

    def prepare(self, *args, **named):
        """Compiles and loads; gives registers, shared_bytes, spills, compile_ms and so on."""
        options, values, _keep = self._call(1, args, named)
        info = c.sized(c.KernelInfo)
        c.check(c.lib.tw_kernel_prepare(self._handle, ctypes.byref(options), values, len(values),
                                        ctypes.byref(info)))
        return {field: getattr(info, field) for field, _ in c.KernelInfo._fields_[1:]}

    def cubin(self, target, *args, **named):
        """The machine code for a CUDA target such as "sm_90", which need not be at hand: bytes, entry,
        threads and dynamic shared bytes."""
        options, values, _keep = self._call(1, args, named)
        out, size = ctypes.c_void_p(), ctypes.c_size_t()
        c.check(c.lib.tw_kernel_compile(self._handle, target.encode(), ctypes.byref(options), values,
                                        len(values), ctypes.byref(out)))
        try:
            data = c.lib.tw_code_cubin(out, ctypes.byref(size))
            return (ctypes.string_at(data, size.value), c.lib.tw_code_entry(out).decode(),
                    c.lib.tw_code_threads(out), c.lib.tw_code_dynamic_shared_bytes(out))
        finally:
            c.lib.tw_code_destroy(out)

    def _call(self, grid, args, named):
        options = c.sized(c.LaunchOptions)
        named = dict(named)
        for name in _OPTIONS:
            if name not in named or name in self.parameters:
                continue
            value = named.pop(name)
            if name == "enable_fp_fusion":
                options.no_fp_fusion = not value
            elif name == "stream":
                options.stream = int(getattr(value, "cuda_stream", value) or 0) or None
            else:
                setattr(options, name, int(value))
        if callable(grid):
            free = [p for p in self.parameters if p not in named]
            grid = grid(dict(zip(free, args)) | named)
        axes = (grid,) if isinstance(grid, int) else tuple(grid)
        if not 1 <= len(axes) <= 3:
            raise ValueError(f"a grid has one to three axes, not {len(axes)}")
        if 0 in axes:
            axes = (0, 1, 1)  # three zeros would be the C interface's default
        for axis, extent in enumerate(axes + (1,) * (3 - len(axes))):
            if not 0 <= extent < 2**32:
                raise ValueError(f"axis {axis} of the grid is {extent}")
            options.grid[axis] = extent
        keep = []
        place = self.context.place
        converted = [_arguments.to_value(None, value, keep, place) for value in args]
        converted += [_arguments.to_value(name, value, keep, place) for name, value in named.items()]
        return options, (c.Value * len(converted))(*converted), (keep, args, named)


class Buffer(_Handle):
    """Memory of a context's device."""

    _destroy = staticmethod(c.lib.tw_buffer_destroy)

    def __init__(self, context, nbytes, element="u8"):
        out = ctypes.c_void_p()
        c.check(c.lib.tw_buffer_create(context._handle, nbytes, ctypes.byref(out)))
        super().__init__(out.value)
        self.nbytes, self.dtype = nbytes, _arguments.dtype(element)

    def data_ptr(self):
        return c.lib.tw_buffer_data(self._handle)

    def upload(self, source, stream=None):
        """Copies from host memory: anything with the buffer protocol."""
        view = memoryview(source).cast("B")
        data = (ctypes.c_char * view.nbytes).from_buffer_copy(view)
        c.check(c.lib.tw_buffer_upload(self._handle, data, view.nbytes, stream))

    def download(self, nbytes=None, stream=None):
        """The first bytes (default: all) as a bytearray."""
        size = self.nbytes if nbytes is None else nbytes
        out = bytearray(size)
        data = (ctypes.c_char * max(1, size)).from_buffer(out) if size else None
        c.check(c.lib.tw_buffer_download(self._handle, data, size, stream))
        return out


_default = threading.local()


def default_context():
    """The context that compile() uses on this thread: the first GPU, else the CPU."""
    if not hasattr(_default, "context"):
        _default.context = Context()
    return _default.context


def compile(path_or_source, kernel, device=None, environment=None):
    """A kernel of a file or text, on the default device or a named one. See Context.compile."""
    context = Context(device) if device else default_context()
    return context.compile(path_or_source, kernel, environment)
