"""What a function that CuTe DSL compiled asks of CUDA's runtime from machine code: ours is registered in its place.

The names are those of the package's own library (4.8), which hands them on to NVIDIA's functions of the same name.
"""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable, Sequence
from ctypes import c_int32 as i32
from ctypes import c_uint32 as u32
from ctypes import c_uint64 as u64
from ctypes import c_void_p as ptr
from typing import Any

from memsim.gpu.occupancy import most_shared_bytes
from memsim.sources.ptx.launch import parsed
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, entries
from memsim.sources.ptx.launchers.cute.names import author_of
from memsim.sources.ptx.launchers.host_memory import name_arrays, parameters_at
from memsim.sources.ptx.origin import beside
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

_DONE, _FAILED = 0, 999  # of cudaError_t
_CLUSTER = 4  # the launch attribute whose value is a cluster's extents (cudaLaunchAttributeID)
_SMS, _MAJOR, _MINOR, _MOST_SHARED = 16, 75, 76, 97  # of cudaDeviceAttr


class _Config(ctypes.Structure):
    """``cudaLaunchConfig_t``."""

    _fields_ = (("grid", u32 * 3), ("block", u32 * 3), ("shared", u64), ("stream", ptr), ("attributes", ptr),
                ("n_attributes", u32))  # fmt: skip


class _Attribute(ctypes.Structure):
    """``cudaLaunchAttribute``."""

    _fields_ = (("which", u32), ("pad", u32), ("value", u32 * 16))


class HostCalls:
    """The functions of one engine's code.

    Args:
        capturing: what launches are handed to.
        modules: PTX of the kernels.
        errors: where exceptions are kept, as machine code takes none: whoever ran it raises them.
    """

    def __init__(self, capturing: Capturing, modules: Sequence[str], errors: list[BaseException]) -> None:
        self._capturing, self._modules, self._errors = capturing, modules, errors
        self._kernels: dict[int, Code] = {}
        self._numbers = itertools.count(1)
        self._kept: list[Any] = []

    def register(self, engine: Any) -> None:
        """Have the engine's code find ours by their names; they live as long as the engine."""
        for name, (kinds, function) in self._functions().items():
            call = ctypes.CFUNCTYPE(i32, *kinds)(self._guarded(function))
            self._kept.append(call)
            engine.raw_register_runtime(name, ctypes.cast(call, ptr))
        engine.memsim_calls = self

    def _functions(self) -> dict[str, tuple[tuple[Any, ...], Callable[..., None]]]:
        """Types of their arguments, and what they do, by name."""
        return {
            "_cudaLibraryLoadData": ((ptr, ptr, ptr, ptr, i32, ptr, ptr, i32), lambda made, *_: _fill(made, 1)),
            "_cudaLibraryGetKernel": ((ptr, ptr, ptr), self._kernel),
            "_cudaGetDevice": ((ptr,), lambda made: _fill(made, 0, i32)),
            "_cudaDeviceGetAttribute": ((ptr, i32, i32), self._attribute),
            "_cuKernelGetAttribute": ((ptr, i32, ptr, i32), lambda made, *_: _fill(made, 0, i32)),
            "_cudaFuncSetAttribute": ((ptr, i32, i32), lambda *_: None),
            "_cudaKernelSetAttributeForDevice": ((ptr, i32, i32, i32), lambda *_: None),
            "_cudaLaunchKernelEx": ((ptr, ptr, ptr), self._launch_by),
            "_cudaLaunchKernel": ((ptr, *[i32] * 6, ptr, u64, ptr), self._launch),
        }  # fmt: skip

    def _guarded(self, function: Callable[..., None]) -> Callable[..., int]:
        def call(*given: Any) -> int:
            try:
                function(*given)
            except BaseException as error:
                self._errors.append(error)
                return _FAILED
            return _DONE

        return call

    def _kernel(self, made: int, library: int, symbol: int) -> None:
        entry = ctypes.string_at(symbol).decode()
        module = next((one for one in self._modules if entry in entries(one)), None)
        if module is None:
            raise InputError("cute", entry, "has no PTX; compile it inside the capture")
        source = next(iter(parsed(module, "module").files.values()), "kernel.py")
        name, names = author_of(entry, source, len(parsed(module, "module").functions[entry].parameters))
        number = next(self._numbers)
        self._kernels[number] = Code(module, entry, name, os.path.relpath(source), names, beside(source))
        _fill(made, number)

    def _attribute(self, made: int, which: int, device: int) -> None:
        gpu = self._capturing.gpu
        major, minor = divmod(architecture(gpu), 10)
        known = {_SMS: gpu.sm.count, _MAJOR: major, _MINOR: minor, _MOST_SHARED: most_shared_bytes(gpu)}
        if which not in known:
            raise InputError("cute", f"device attribute {which}", "is not known here")
        _fill(made, known[which], i32)

    def _launch_by(self, config: int, kernel: int, parameters: int) -> None:
        how = _Config.from_address(config)
        attributes = (_Attribute * how.n_attributes).from_address(how.attributes) if how.n_attributes else ()
        cluster = next((tuple(one.value[:3]) for one in attributes if one.which == _CLUSTER), (1, 1, 1))
        self._run(kernel, tuple(how.grid), tuple(how.block), cluster, how.shared, parameters)

    def _launch(self, kernel: int, *how: int) -> None:
        self._run(kernel, how[:3], how[3:6], (1, 1, 1), how[7], how[6])

    def _run(self, kernel: int, grid: Any, block: Any, cluster: Any, shared: int, parameters: int) -> None:
        code = self._kernels[kernel]
        values = parameters_at(code, parameters)
        name_arrays(self._capturing.memory, code, values)
        self._capturing.launch(code, values, grid, block, cluster=cluster, shared_bytes=shared)


def _fill(made: int, value: int, kind: Any = ptr) -> None:
    """Write a result where the caller wants it."""
    kind.from_address(made).value = value
