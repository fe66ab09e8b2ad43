"""cuda.bindings without a driver: memory, modules and launches of the CUDA driver API, and NVRTC with line numbers.

Enumerations and types stay the package's own; its functions that would ask a driver are answered here or refused by
name. NVIDIA, CUDA Driver API reference manual, sections of the same names.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import most_shared_bytes
from memsim.sources.ptx.launch import parsed
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, entries
from memsim.sources.ptx.launchers.host_memory import host_bytes, parameters_at
from memsim.sources.ptx.ptxas import architecture, kernel_name
from memsim.support.errors import InputError

_USER = "numba.cuda"  # has a launcher of its own, and needs the real ones
_NUMBA = ("numba", "numba_cuda")  # whose modules those are
_LINES = b"-lineinfo"
_SILENT = (  # do nothing, and have no result
    "cuInit", "cuCtxSetCurrent", "cuCtxDestroy", "cuCtxSynchronize", "cuCtxPushCurrent", "cuDevicePrimaryCtxRelease",
    "cuStreamDestroy", "cuStreamSynchronize", "cuStreamWaitEvent", "cuEventDestroy", "cuEventRecord", "cuMemFree",
    "cuEventSynchronize", "cuModuleUnload", "cuFuncSetAttribute", "cuFuncSetCacheConfig", "cuMemFreeAsync",
    "cuLibraryUnload",
)  # fmt: skip
_NOTHING = (  # have a result that nobody looks into
    "cuCtxCreate", "cuCtxGetCurrent", "cuCtxPopCurrent", "cuDevicePrimaryCtxRetain", "cuStreamCreate",
    "cuStreamCreateWithPriority", "cuEventCreate",
)  # fmt: skip


@contextmanager
def driver_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, ``cuda.bindings.driver`` launches on the CPU; beside Numba-CUDA, it is refused to programs."""
    from cuda.bindings import driver

    if _USER in sys.modules:
        with patch.object(driver, "cuInit", _for_numba_alone(driver.cuInit)):
            yield
        return
    with patch.multiple(driver, **_answers(capturing, driver)):
        yield


def _for_numba_alone(own: Callable[..., Any]) -> Callable[..., Any]:
    """What a program of the driver API begins with, where the functions are as Numba-CUDA needs them."""

    def init(*arguments: Any) -> Any:
        if sys._getframe(1).f_globals["__name__"].partition(".")[0] not in _NUMBA:
            problem = "is not caught once numba.cuda is imported; launch by one of them, or import cuda.bindings first"
            raise InputError("cuda.bindings", "cuInit", problem)
        return own(*arguments)

    return init


@contextmanager
def lines_asked_for(capturing: Capturing) -> Iterator[None]:
    """Inside the block, ``cuda.bindings.nvrtc`` writes line numbers into the PTX, whatever options it is given."""
    from cuda.bindings import nvrtc

    own = nvrtc.nvrtcCompileProgram

    def compile_program(program: Any, count: int, options: Any) -> Any:
        given = [*(options or [])][:count]
        return own(program, len(given) + 1, [*given, _LINES])

    with patch.object(nvrtc, "nvrtcCompileProgram", compile_program):
        yield


def _answers(capturing: Capturing, driver: ModuleType) -> dict[str, Any]:
    """What is put in the place of the driver's functions, by name."""
    ok = driver.CUresult.CUDA_SUCCESS
    memory, launching = _Memory(capturing, driver), _Launching(capturing)
    working: dict[str, Callable[..., Any]] = {
        "cuDriverGetVersion": lambda: 13000,
        "cuDeviceGet": lambda ordinal: driver.CUdevice(0),
        "cuDeviceGetCount": lambda: 1,
        "cuDeviceGetName": lambda length, device: capturing.gpu.name.encode().ljust(length, b"\0"),
        "cuDeviceGetAttribute": lambda attribute, device: _attribute(capturing.gpu, attribute.name),
        "cuEventElapsedTime": lambda start, end: _untimed(capturing),
        **dict.fromkeys(_NOTHING, lambda *_: 0),
        **{name: getattr(memory, name) for name in dir(memory) if name.startswith("cu")},
        **{name: getattr(launching, name) for name in dir(launching) if name.startswith("cu")},
    }
    silent: dict[str, Callable[..., Any]] = dict.fromkeys(_SILENT, lambda *_: None)
    for name in ("cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemsetD8", "cuMemsetD32", "cuLaunchKernel"):
        silent[name] = working.pop(name)
        if not name.startswith("cuLaunch"):
            silent[f"{name}Async"] = silent[name]
    answers: dict[str, Any] = {name: _refusing(name) for name, one in vars(driver).items() if _is_function(name, one)}
    answers |= {name: _with_result(ok, work) for name, work in working.items() if hasattr(driver, name)}
    return answers | {name: _without_result(ok, work) for name, work in silent.items() if hasattr(driver, name)}


def _untimed(capturing: Capturing) -> float:
    capturing.note("times by cuEventElapsedTime are not simulated and are nan; memsim run tells a launch's time")
    return math.nan


def _is_function(name: str, value: Any) -> bool:
    return name.startswith("cu") and name[2:3].isupper() and callable(value) and not inspect.isclass(value)


def _with_result(ok: Any, work: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    return lambda *arguments: (ok, work(*arguments))


def _without_result(ok: Any, work: Callable[..., Any]) -> Callable[..., tuple[Any]]:
    def call(*arguments: Any) -> tuple[Any]:
        work(*arguments)
        return (ok,)

    return call


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise InputError(
            "cuda.bindings", name, "is not done here; allocate, copy, load PTX and launch with cuLaunchKernel"
        )

    return refuse


def _attribute(gpu: GPU, name: str) -> int:
    """A device's attribute by the end of its name in CUdevice_attribute."""
    major, minor = divmod(architecture(gpu), 10)
    known = {
        "COMPUTE_CAPABILITY_MAJOR": major,
        "COMPUTE_CAPABILITY_MINOR": minor,
        "MULTIPROCESSOR_COUNT": gpu.sm.count,
        "WARP_SIZE": gpu.sm.warp_size,
        "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_THREADS_PER_MULTIPROCESSOR": gpu.sm.max_threads,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": most_shared_bytes(gpu),
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": gpu.sm.shared_bytes,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": gpu.sm.registers,
        "L2_CACHE_SIZE": gpu.l2.size_bytes,
        "CLOCK_RATE": round(gpu.sm.clock_mhz * 1000),
    }
    asked = name.removeprefix("CU_DEVICE_ATTRIBUTE_")
    if asked not in known:
        raise InputError("cuda.bindings", asked, f"is not known of {gpu.name}; known are {', '.join(known)}")
    return known[asked]


class _Memory:
    """Device memory, which lies in the host's."""

    def __init__(self, capturing: Capturing, driver: ModuleType) -> None:
        self._memory, self._pointer = capturing.memory, driver.CUdeviceptr

    def cuMemAlloc(self, nbytes: int) -> Any:
        return self._pointer(self._memory.reserve(int(nbytes), element_bytes=4))

    def cuMemAllocAsync(self, nbytes: int, stream: Any) -> Any:
        return self.cuMemAlloc(nbytes)

    def cuMemcpyHtoD(self, to: Any, source: Any, nbytes: int, stream: Any = None) -> None:
        self._memory.array_at(int(to), nbytes)[...] = np.frombuffer(host_bytes(source, nbytes), np.uint8)

    def cuMemcpyDtoH(self, to: Any, source: Any, nbytes: int, stream: Any = None) -> None:
        np.frombuffer(host_bytes(to, nbytes), np.uint8)[...] = self._memory.array_at(int(source), nbytes)

    def cuMemcpyDtoD(self, to: Any, source: Any, nbytes: int, stream: Any = None) -> None:
        self._memory.array_at(int(to), nbytes)[...] = self._memory.array_at(int(source), nbytes).copy()

    def cuMemsetD8(self, to: Any, value: int, count: int, stream: Any = None) -> None:
        self._memory.array_at(int(to), count)[...] = value

    def cuMemsetD32(self, to: Any, value: int, count: int, stream: Any = None) -> None:
        self._memory.array_at(int(to), 4 * count).view(np.uint32)[...] = value


class _Launching:
    """Modules of PTX, their kernels, and launches."""

    def __init__(self, capturing: Capturing) -> None:
        self._capturing = capturing

    def cuModuleLoadData(self, image: Any) -> str:
        text = ctypes.string_at(int(image)) if isinstance(image, int | np.integer) else bytes(image)
        if text.startswith(b"\x7fELF"):
            raise InputError("cuda.bindings", "cuModuleLoadData", "is given machine code; give PTX (nvrtcGetPTX)")
        return text.partition(b"\0")[0].decode()

    def cuModuleLoadDataEx(self, image: Any, *options: Any) -> str:
        return self.cuModuleLoadData(image)

    def cuModuleGetFunction(self, module: str, name: bytes) -> Code:
        entry = name.decode()
        if entry not in entries(module):
            raise InputError("cuda.bindings", entry, f"is no kernel there; kernels are {', '.join(entries(module))}")
        files = parsed(module, "module").files
        return Code(module, entry, kernel_name(entry), next(iter(files.values()), "kernel.cu"))

    def cuLaunchKernel(self, kernel: Code, *how: Any) -> None:
        """Grid and block of three each, shared bytes, stream, the parameters and what else there is."""
        grid, block, shared_bytes, (given, extra) = how[:3], how[3:6], how[6], how[8:10]
        if not isinstance(extra, int | np.integer) or extra:
            raise InputError("cuda.bindings", "cuLaunchKernel", "is given extra; give kernelParams")
        self._capturing.launch(kernel, _parameters(kernel, given), grid, block, shared_bytes=int(shared_bytes))


def _parameters(kernel: Code, given: Any) -> list[bytes]:
    """Each parameter's bytes: of an array of pointers to them, or of a pair of values and their types of ctypes."""
    if isinstance(given, tuple):
        values, types = given
        return [_value(value, kind) for value, kind in zip(values, types, strict=True)]
    return parameters_at(kernel, int(given))


def _value(value: Any, kind: Any) -> bytes:
    """A value by its type; None: a pointer, or an object of ctypes."""
    if kind is None:
        return (
            bytes(value)
            if isinstance(value, ctypes._SimpleCData | ctypes.Structure)
            else bytes(ctypes.c_uint64(int(value)))
        )
    return bytes(kind(value if isinstance(value, float) else int(value)))
