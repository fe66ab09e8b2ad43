"""CuPy without a GPU: a module that is numpy, but for ``RawKernel`` and ``RawModule``, whose launches are caught."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.device_array import DeviceArray
from memsim.sources.ptx.launchers.nothing import Nothing
from memsim.sources.ptx.launchers.strings import StringModule, plain
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

_NOT_HERE = ("ElementwiseKernel", "ReductionKernel", "fuse")


class StandIn(ModuleType):
    """What ``import cupy`` gives. Functions are numpy's; arrays that they return are :class:`DeviceArray`."""

    def __init__(self, capturing: Capturing) -> None:
        super().__init__("cupy", self.__doc__)
        self.ndarray = DeviceArray
        self.cuda = _cuda(capturing)
        self.RawKernel = lambda code, name, options=(), **_: RawKernel(
            capturing, StringModule(capturing, code, options), name
        )
        self.RawModule = lambda **given: RawModule(capturing, **given)

    def asnumpy(self, array: Any, *_: Any, **__: Any) -> np.ndarray:
        return np.array(array, subok=False)

    def get_array_module(self, *_: Any) -> ModuleType:
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            raise InputError("cupy", name, "is not caught; only RawKernel and RawModule are")
        found = getattr(np, name)
        return found if isinstance(found, type) or not callable(found) else _on_device(found)


class RawKernel:
    """A kernel of CUDA C++ in a string: ``kernel(grid, block, arguments)`` launches it."""

    def __init__(self, capturing: Capturing, module: StringModule, name: str) -> None:
        self._capturing, self._module, self.name = capturing, module, name

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0, stream: Any = None
    ) -> None:
        code = self._module.kernel(self.name)
        self._capturing.launch(code, [plain(one) for one in args], grid, block, shared_bytes=shared_mem)

    def compile(self, *_: Any, **__: Any) -> None:
        """Compile now, not at the first launch."""
        self._module.kernel(self.name)


class RawModule:
    """Several kernels of one string, or of a file of CUDA C++ or PTX."""

    def __init__(
        self, capturing: Capturing, code: str | None = None, path: str | None = None, options: Sequence[str] = (),
        name_expressions: Sequence[str] = (), **_: Any,
    ) -> None:  # fmt: skip
        if code is None:
            if path is None or Path(path).suffix not in (".ptx", ".cu"):
                raise InputError(
                    "cupy.RawModule", "path", f"is {path}; give code, or a file of PTX (.ptx) or CUDA (.cu)"
                )
            code = Path(path).read_text()
        is_ptx = code.lstrip().startswith((".version", "//\n")) or (path or "").endswith(".ptx")
        self._module = StringModule(capturing, code, options, name_expressions or (), is_ptx)
        self._capturing = capturing

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(self._capturing, self._module, name)

    def compile(self, *_: Any, **__: Any) -> None:
        """Compiled when a kernel is asked for."""


def _on_device(function: Any) -> Any:
    """A function of numpy whose arrays are on the device."""

    def call(*arguments: Any, **named: Any) -> Any:
        made = function(*arguments, **named)
        return made.view(DeviceArray) if type(made) is np.ndarray else made

    return call


def _cuda(capturing: Capturing) -> Any:
    """``cupy.cuda``: one device, and streams and events that do nothing."""
    nothing, number = Nothing(), architecture(capturing.gpu)
    attributes = {"MultiProcessorCount": capturing.gpu.sm.count, "WarpSize": capturing.gpu.sm.warp_size}
    device = SimpleNamespace(
        compute_capability=str(number), attributes=attributes, synchronize=nothing, use=nothing, id=0
    )
    return SimpleNamespace(
        Device=lambda *_: device, Stream=nothing, Event=nothing, get_current_stream=nothing, runtime=nothing,
        get_elapsed_time=lambda *_: 0.0, is_available=lambda: True, stream=nothing, memory=nothing,
    )  # fmt: skip
