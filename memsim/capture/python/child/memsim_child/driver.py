"""memsim's libcuda.so.1 for Python, by ctypes."""

import ctypes
import functools

_SUCCESS = 0
benchmarks = 0  # that have ended; the server counts them, too


@functools.lru_cache(maxsize=None)
def library():
    """The driver library, initialized.

    Raises:
        OSError: it is not found.
    """
    loaded = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    loaded.cuInit(0)
    return loaded


def call(name, *arguments):
    """Call a driver function.

    Raises:
        RuntimeError: it returned an error.
    """
    error = getattr(library(), name)(*arguments)
    if error != _SUCCESS:
        text = ctypes.c_char_p()
        library().cuGetErrorString(error, ctypes.byref(text))
        raise RuntimeError("CUDA error: %s" % (text.value or b"%d" % error).decode())


def attribute(number, device=0):
    """A device attribute (CUdevice_attribute)."""
    value = ctypes.c_int()
    call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
    return value.value


def name(device=0):
    """The GPU's name."""
    text = ctypes.create_string_buffer(256)
    call("cuDeviceGetName", text, 256, device)
    return text.value.decode()


def total_memory(device=0):
    """The GPU's memory in bytes."""
    value = ctypes.c_size_t()
    call("cuDeviceTotalMem_v2", ctypes.byref(value), device)
    return value.value


def version():
    """The CUDA version that the driver reports, as (major, minor)."""
    value = ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(value))
    return value.value // 1000, value.value % 1000 // 10


def count():
    """Number of devices; 0 without a server."""
    value = ctypes.c_int()
    try:
        call("cuDeviceGetCount", ctypes.byref(value))
    except (RuntimeError, OSError):
        return 0
    return value.value


def benchmark_begin(flushed):
    """From here to `benchmark_end` launches are simulated, not run in full; ``flushed``: L2 holds other, dirty data."""
    call("memsim_benchmark", 0, int(flushed), None, None)


def benchmark_end():
    """The simulated milliseconds since `benchmark_begin`, and the number of launches."""
    global benchmarks
    milliseconds, launches = ctypes.c_double(), ctypes.c_uint()
    call("memsim_benchmark", 1, 0, ctypes.byref(milliseconds), ctypes.byref(launches))
    benchmarks += 1
    return milliseconds.value, launches.value


def report_tuned(report):
    """Report a tuned kernel to the server, in JSON (memsim/capture/tuning.py); the server may end the program here."""
    call("memsim_tuned", report.encode())


def report_begin():
    """From here to `report_end` launches prepare measurements: those that take long are cut short."""
    call("memsim_benchmark", 0, 2, None, None)


def report_end():
    call("memsim_benchmark", 1, 2, None, None)


def launches():
    """How many kernels were launched so far, outside of benchmarks."""
    found = ctypes.c_uint()
    call("memsim_benchmark", 1, 2, None, ctypes.byref(found))  # the end of a report, where none has begun
    return found.value
