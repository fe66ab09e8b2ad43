"""Completes ``torch._C`` of a CPU build with what ``torch.cuda`` expects of a CUDA build.

Torch's own Python code of ``torch.cuda`` then runs unchanged. `torch_device.cpp` is the other half: the device itself.
Tried with torch 2.6 to 2.14.
"""

import atexit
import contextlib
import ctypes
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

from memsim_child import driver, extension_headers, packages

_device = []  # the library, once it is loaded
_living = []  # a tensor that lives as long as the process


def load(spec):
    """Load the device before ``torch._C`` itself, which looks for one only once."""
    torch = os.path.dirname(spec.origin)
    packages.refuse("torch", os.path.join(torch, "version.py"), packages.OLDEST_TORCH, packages.NEWEST_TORCH)
    if os.path.exists(os.path.join(torch, "lib", "libtorch_cuda.so")):
        sys.exit("memsim: this torch is built for CUDA and cannot run on memsim; install the CPU build of torch")
    if driver.count():
        _device.append(ctypes.CDLL(_build(torch, "torch_device"), mode=ctypes.RTLD_GLOBAL))


def load_for_extensions(module):
    """Load what extensions call of torch's CUDA libraries, once ``torch.utils.cpp_extension`` is imported.

    The nvcc that compiles extensions compiles it as well, as it knows where its headers are.
    """
    cuda = getattr(module, "CUDA_HOME", None)
    if not _device or not cuda:
        return  # torch says that extensions need a toolkit
    module.CUDA_HOME = cuda = _toolkit(cuda)
    torch = os.path.dirname(sys.modules["torch"].__file__)
    nvcc = os.path.join(cuda, "bin", "nvcc")
    try:
        library = _build(torch, "torch_cuda", nvcc)
        _device.append(ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL))
    except (ImportError, OSError) as error:
        print("memsim: torch's CUDA functions are missing for extensions: %s" % error, file=sys.stderr)
    if "PYTORCH_NVCC" not in os.environ:  # the variable is torch's, for compilers' caches
        with contextlib.suppress(OSError):  # it saves time, no more
            os.environ["PYTORCH_NVCC"] = extension_headers.write(torch, nvcc, _cached(torch, "headers", nvcc))
    _remove_stale_locks(os.environ.get("TORCH_EXTENSIONS_DIR", ""))


def _toolkit(home):
    """The toolkit that torch's ``CUDA_HOME`` stands for.

    Torch takes the folder above the nvcc on PATH. Where that one is a script that calls another, g++ would not find
    CUDA's headers there; nvcc knows where its own are.
    """
    if os.path.exists(os.path.join(home, "include", "cuda_runtime.h")):
        return home
    command = [os.path.join(home, "bin", "nvcc"), "--dryrun", "-E", "-x", "cu", os.devnull]
    with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(OSError):
        environment = dict(os.environ, TMPDIR=scratch)
        said = subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True, env=environment).stderr
        for line in said.splitlines():
            if line.startswith("#$ TOP="):
                return os.path.realpath(line[len("#$ TOP=") :])
    return home


def _remove_stale_locks(folder):
    """Remove locks of builds that were interrupted, for which torch would wait: no process has them open."""
    locks = set(glob.glob(os.path.join(os.path.realpath(folder), "*", "lock"))) if folder else set()
    if locks:
        for opened in glob.iglob("/proc/[0-9]*/fd/*"):
            with contextlib.suppress(OSError):  # ended meanwhile, or of another user
                locks.discard(os.readlink(opened))
    for lock in locks:
        with contextlib.suppress(OSError):
            os.remove(lock)


def complete(c):
    """Add the CUDA half to ``torch._C``, right after it is loaded."""
    if not _device:
        return
    device = _device[0]
    device.memsim_torch_stream.restype = ctypes.c_int64
    device.memsim_torch_set_stream.argtypes = [ctypes.c_int64]
    device.memsim_torch_start()
    for name, value in _members(c, device).items():
        setattr(c, name, value)
    atexit.register(_finish_backward)
    guards = getattr(getattr(c, "_dynamo", None), "guards", None)
    if hasattr(guards, "_empty_strided_cuda"):  # of code that torch.compile writes
        guards._empty_strided_cuda = _empty_strided


def _empty_strided(size, stride, dtype):
    return sys.modules["torch"].empty_strided(size, stride, dtype=dtype, device="cuda")


def _finish_backward():
    """Wait until autograd's thread of the GPU has dropped what it holds of the last backward pass.

    It does so after that pass has returned. If the interpreter ends meanwhile, Python ends the thread within a
    destructor, and the process aborts. The thread takes the pass below, which has no Python objects, after the other.
    """
    torch = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        if _has_thread("pt_autograd"):
            with torch.enable_grad():
                _living.append(torch.zeros((), device="cuda", requires_grad=True))
                (_living[0] * 1).backward()


def _has_thread(name):
    """Whether a thread of the process has a name that begins so."""
    folder = "/proc/self/task"
    for one in os.listdir(folder):
        with open(os.path.join(folder, one, "comm")) as file:
            if file.read().startswith(name):
                return True
    return False


def set_version(module):
    """``torch.version.cuda`` is the driver's version."""
    if module.cuda is None and driver.count():  # imported before torch._C
        module.cuda = "%d.%d" % driver.version()


# -- the library -----------------------------------------------------------------------------------------------------


def _build(torch, name, nvcc=None):
    """The path of a library of this folder, compiled once for this torch, by g++ unless ``nvcc`` is given.

    Raises:
        ImportError: the compiler fails.
    """
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".cpp")
    target = _cached(torch, "torch", nvcc, source) + ".so"
    if not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _compile(source, torch, target, _new_strings(torch), nvcc)
    return target


def _cached(torch, kind, nvcc, *sources):
    """A path in the cache that belongs to this torch, this compiler and these sources."""
    digest = hashlib.sha256((torch + (nvcc or "")).encode())
    for path in (*sources, os.path.abspath(__file__), os.path.join(torch, "version.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    folder = os.environ.get("MEMSIM_CHILD_CACHE") or os.path.join(tempfile.gettempdir(), "memsim-%d" % os.getuid())
    return os.path.join(folder, "%s-%s" % (kind, digest.hexdigest()[:16]))


def _new_strings(torch):
    """1 if torch is built with the C++11 ABI of strings, as it is since 2.6; else 0."""
    with open(os.path.join(torch, "lib", "libc10.so"), "rb") as file:
        return int(b"__cxx1112basic_string" in file.read())


def _compile(source, torch, target, abi, nvcc):
    temporary = "%s.%d" % (target, os.getpid())
    include = os.path.join(torch, "include")
    if nvcc:
        command = [nvcc, "-std=c++20", "-O1", "-shared", "-Xcompiler", "-fPIC,-w", "-cudart", "none", "-lcudart"]
        command += ["-lcublas", "-lcublasLt", "-lcusparse", "-lcusolver"]
    else:
        command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-w"]
    command += ["-I" + include, "-I" + os.path.join(include, "torch", "csrc", "api", "include")]
    command += ["-D_GLIBCXX_USE_CXX11_ABI=%d" % abi, source, "-o", temporary]
    lib = os.path.join(torch, "lib")
    command += ["-L" + lib, *(["-Xlinker", "-rpath," + lib] if nvcc else ["-Wl,-rpath," + lib]), "-lc10", "-ltorch_cpu"]
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    done = subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True, env=environment)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr.strip()]
        raise ImportError("memsim: %s cannot compile memsim's device for this torch: %s" % (command[0], lines[0]))
    os.replace(temporary, target)


# -- torch._C --------------------------------------------------------------------------------------------------------


class DeviceProperties:
    """``torch.cuda.get_device_properties``, answered by the driver."""

    _ATTRIBUTES = {
        "multi_processor_count": 16, "max_threads_per_multi_processor": 39, "warp_size": 10, "L2_cache_size": 38,
        "clock_rate": 13, "memory_clock_rate": 36, "memory_bus_width": 37, "shared_memory_per_block": 8,
        "shared_memory_per_block_optin": 97, "shared_memory_per_multiprocessor": 81, "regs_per_multiprocessor": 82,
        "max_threads_per_block": 1, "major": 75, "minor": 76, "is_integrated": 18, "is_multi_gpu_board": 84,
        "pci_bus_id": 33, "pci_device_id": 34, "pci_domain_id": 50,
    }  # fmt: skip

    def __init__(self):
        for name, number in self._ATTRIBUTES.items():
            setattr(self, name, driver.attribute(number))
        self.name, self.total_memory = driver.name(), driver.total_memory()
        self.gcnArchName, self.uuid = "", "00000000-0000-0000-0000-000000000000"

    def __repr__(self):
        return "_CudaDeviceProperties(name=%r, major=%d, minor=%d, total_memory=%dMB, multi_processor_count=%d)" % (
            self.name, self.major, self.minor, self.total_memory >> 20, self.multi_processor_count)  # fmt: skip


class Cudart:
    """``torch.cuda.cudart()``."""

    class cudaError(int):
        success = 0

    def cudaMemGetInfo(self, device=0):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def cudaHostRegister(self, address, size, flags):
        return driver.library().cuMemHostRegister_v2(ctypes.c_void_p(address), ctypes.c_size_t(size), flags)

    def cudaHostUnregister(self, address):
        return driver.library().cuMemHostUnregister(ctypes.c_void_p(address))

    def cudaGetErrorString(self, error):
        return "CUDA error %d" % error

    def cudaProfilerStart(self):
        return 0

    def cudaProfilerStop(self):
        return 0


def _stream_class(c):
    class _CudaStreamBase(c.Stream):
        def __new__(cls, priority=0, stream_id=None, device_index=0, device_type=1, stream_ptr=None, **_):
            if stream_id is None:
                stream_id = stream_ptr if stream_ptr is not None else _new_stream(priority)
            return super().__new__(cls, stream_id=stream_id, device_index=0, device_type=1)

        cuda_stream = property(lambda self: self.stream_id)
        priority = property(lambda self: 0)

        @staticmethod
        def priority_range():
            return 0, -5

    return _CudaStreamBase


def _new_stream(priority):
    """A stream of the driver."""
    handle = ctypes.c_void_p()
    driver.call("cuStreamCreateWithPriority", ctypes.byref(handle), 1, priority)
    return handle.value


def _event_class(c):
    class _CudaEventBase(c.Event):
        def __new__(cls, enable_timing=False, blocking=False, interprocess=False, **_):
            return super().__new__(
                cls, "cuda", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
            )

        cuda_event = property(lambda self: self.event_id)

        def elapsed_time(self, end_event):
            milliseconds = ctypes.c_float()
            first, last = ctypes.c_void_p(self.event_id), ctypes.c_void_p(end_event.event_id)
            driver.call("cuEventElapsedTime", ctypes.byref(milliseconds), first, last)
            return milliseconds.value

    return _CudaEventBase


def _graph_class(device):
    class _CUDAGraph:
        """A graph of the driver. What torch computes itself while a stream is captured is replayed with it."""

        def __new__(cls, *_, **__):
            return super().__new__(cls)

        def __init__(self, *_, **__):
            self._graph, self._exec = ctypes.c_void_p(), ctypes.c_void_p()

        def capture_begin(self, pool=None, capture_error_mode="global"):
            modes = {"global": 0, "thread_local": 1, "relaxed": 2}
            driver.call(
                "cuStreamBeginCapture_v2", ctypes.c_void_p(device.memsim_torch_stream()), modes[capture_error_mode]
            )
            device.memsim_torch_capture(1)

        def capture_end(self):
            device.memsim_torch_capture(0)
            driver.call("cuStreamEndCapture", ctypes.c_void_p(device.memsim_torch_stream()), ctypes.byref(self._graph))
            self.instantiate()

        def instantiate(self):
            driver.call("cuGraphInstantiateWithFlags", ctypes.byref(self._exec), self._graph, ctypes.c_ulonglong(0))

        def replay(self):
            driver.call("cuGraphLaunch", self._exec, ctypes.c_void_p(device.memsim_torch_stream()))

        def reset(self):
            if self._exec:
                driver.call("cuGraphExecDestroy", self._exec)
                driver.call("cuGraphDestroy", self._graph)
            self.__init__()

        def pool(self):
            return (0, 1)

        def raw_cuda_graph(self):
            return self._graph.value

        def raw_cuda_graph_exec(self):
            return self._exec.value

        def register_generator_state(self, generator):
            pass

        def enable_debug_mode(self):
            pass

        def debug_dump(self, path):
            pass

    return _CUDAGraph


def _memory_statistics(device):
    values = (ctypes.c_int64 * 3)()
    device.memsim_torch_memory(values)
    zero = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
    size = {"current": values[0], "peak": values[1], "allocated": values[1], "freed": 0}
    number = {"current": values[2], "peak": values[2], "allocated": values[2], "freed": 0}

    def kinds(one):
        return {"all": dict(one), "small_pool": dict(zero), "large_pool": dict(one)}

    sizes = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
    result = {name: kinds(size) for name in sizes}
    result.update({name: kinds(number) for name in ("allocation", "segment", "active")})
    result.update({name: kinds(zero) for name in ("inactive_split", "inactive_split_bytes")})
    result.update({name: dict(zero) for name in ("oversize_allocations", "oversize_segments")})
    result.update(
        num_alloc_retries=0,
        num_ooms=0,
        max_split_size=-1,
        num_sync_all_streams=0,
        num_device_alloc=0,
        num_device_free=0,
    )
    return result


def _is_capturing(device):
    status = ctypes.c_int()
    driver.call("cuStreamIsCapturing", ctypes.c_void_p(device.memsim_torch_stream()), ctypes.byref(status))
    return bool(status.value)


def _members(c, device):
    """Names of ``torch._C`` that a CUDA build has, with what they are here."""
    properties = []

    def get_properties(index=0):
        if not properties:
            properties.append(DeviceProperties())
        return properties[0]

    def current_stream(index=0):
        return device.memsim_torch_stream(), 0, 1

    def init():  # `torch.cuda` expects that this adds names to it
        torch = sys.modules["torch"]
        torch.cuda._get_device_properties = get_properties
        torch.cuda.default_generators = (torch.Generator(device="cuda"),)

    def returns(value):  # a function of its own for each name: torch.compile tells them apart
        return lambda *_, **__: value

    members = {
        "_has_cuda": True, "_cudart": Cudart(), "_CudaDeviceProperties": DeviceProperties,
        "_CudaStreamBase": _stream_class(c), "_CudaEventBase": _event_class(c), "_CUDAGraph": _graph_class(device),
        "_graph_pool_handle": lambda: (0, 1), "_cuda_isCurrentStreamCapturing": lambda: _is_capturing(device),
        "_cuda_getDeviceCount": driver.count, "_cuda_get_device_properties": get_properties,
        "_cuda_init": init, "_cuda_getDefaultStream": lambda index=0: (0, 0, 1),
        "_cuda_getCurrentStream": current_stream,
        "_cuda_getCurrentRawStream": lambda index=0: device.memsim_torch_stream(),
        "_cuda_setStream": lambda stream_id, device_index=0, device_type=1: device.memsim_torch_set_stream(stream_id),
        "_cuda_getStreamFromExternal": lambda pointer, index=0: (pointer, 0, 1),
        "_cuda_synchronize": lambda: driver.call("cuCtxSynchronize"), "_cuda_canDeviceAccessPeer": lambda *_: False,
        "_cuda_getArchFlags": lambda: " ".join("sm_%d" % a for a in (75, 80, 86, 89, 90, 100, 120)),
        "_cuda_getCompiledVersion": lambda: driver.version()[0] * 1000 + driver.version()[1] * 10,
        "_cuda_memoryStats": lambda *_: _memory_statistics(device), "_cuda_getMemoryFraction": lambda *_: 1.0,
        "_cuda_resetPeakMemoryStats": lambda *_: device.memsim_torch_reset_peak(),
        "_cuda_memorySnapshot": lambda *_: {"segments": []},
        "_cuda_getAllocatorBackend": lambda: "native", "_cuda_isInBadFork": lambda: False,
        "_cuda_hasPrimaryContext": lambda *_: True,
    }  # fmt: skip
    for name in ("exchangeDevice", "maybeExchangeDevice", "getDevice", "getCurrentBlasHandle", "get_sync_debug_mode"):
        members["_cuda_" + name] = returns(0)
    for name in (
        "setDevice", "emptyCache", "resetAccumulatedMemoryStats", "setMemoryFraction", "set_sync_debug_mode", "sleep",
        "ipc_collect", "lock_mutex", "unlock_mutex", "attach_out_of_memory_observer", "record_memory_history",
        "record_memory_history_legacy", "clearCublasWorkspaces", "setMemoryMetadata",
    ):  # fmt: skip
        members["_cuda_" + name] = returns(None)
    return {name: value for name, value in members.items() if name == "_has_cuda" or not hasattr(c, name)}
