"""cuda.core without a driver: ``Device``, ``Program``, ``launch`` and buffers, compiled by NVRTC and caught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code
from memsim.sources.ptx.launchers.nothing import Nothing
from memsim.sources.ptx.launchers.strings import StringModule, plain
from memsim.sources.ptx.ptxas import architecture


def stand_in(capturing: Capturing, name: str) -> ModuleType:
    """What ``import cuda.core`` gives."""
    module = ModuleType(name, stand_in.__doc__)
    module.__dict__.update(
        Device=lambda *_: Device(capturing),
        Program=lambda code, code_type="c++", options=None: Program(capturing, code, code_type, options),
        ProgramOptions=lambda **given: SimpleNamespace(**given),
        LaunchConfig=lambda grid=1, block=1, cluster=None, shmem_size=0, **_: SimpleNamespace(
            grid=grid, block=block, cluster=cluster, shmem_size=shmem_size
        ),
        ObjectCode=SimpleNamespace(from_ptx=lambda code, **_: _from_ptx(capturing, code)),
        launch=_launcher(capturing),
        Stream=Nothing, Event=Nothing, StreamOptions=Nothing(), EventOptions=Nothing(), system=Nothing(),
    )  # fmt: skip
    return module


class Device:
    """The device of the simulated GPU."""

    def __init__(self, capturing: Capturing) -> None:
        self._capturing = capturing
        self.name = capturing.gpu.name
        self.compute_capability = ComputeCapability(capturing.gpu)
        self.arch = str(architecture(capturing.gpu))
        self.properties = SimpleNamespace(
            multiprocessor_count=capturing.gpu.sm.count,
            warp_size=capturing.gpu.sm.warp_size,
            max_threads_per_block=1024,
        )

    def allocate(self, size: int, stream: Any = None) -> Buffer:
        """Memory on the device; it is the host's."""
        return Buffer(self._capturing, size)

    def __getattr__(self, name: str) -> Nothing:
        return getattr(Nothing(), name)


class ComputeCapability(tuple):
    """(major, minor), with these names."""

    def __new__(cls, gpu: GPU) -> ComputeCapability:
        return super().__new__(cls, divmod(architecture(gpu), 10))

    @property
    def major(self) -> int:
        return self[0]

    @property
    def minor(self) -> int:
        return self[1]


class Buffer:
    """Allocated memory; ``handle`` is its device address."""

    def __init__(self, capturing: Capturing, size: int) -> None:
        self.array, self.size = np.zeros(size, np.uint8), size
        self.handle = capturing.arrays.address(self.array)

    def copy_to(self, other: Buffer, *, stream: Any = None) -> None:
        other.array[: self.size] = self.array

    def copy_from(self, other: Buffer, *, stream: Any = None) -> None:
        other.copy_to(self)

    def close(self, stream: Any = None) -> None:
        """It is kept as long as the capture."""


class Program:
    """Source to be compiled."""

    def __init__(self, capturing: Capturing, code: str, code_type: str, options: Any) -> None:
        self._capturing, self._code, self._options = capturing, code, options
        self._is_ptx = code_type.lower() == "ptx"

    def compile(self, target_type: str = "ptx", name_expressions: Sequence[str] = (), **_: Any) -> ObjectCode:
        """Compiled when a kernel is asked for, to PTX whatever the target."""
        options = _options(self._options)
        return ObjectCode(StringModule(self._capturing, self._code, options, name_expressions, self._is_ptx))

    def close(self) -> None:
        """There is nothing to release."""


class ObjectCode:
    """Compiled code, of which kernels can be had."""

    def __init__(self, module: StringModule) -> None:
        self._module = module

    def get_kernel(self, name: str) -> Code:
        return self._module.kernel(name)


def _options(given: Any) -> list[str]:
    """NVRTC's options of a ``ProgramOptions``."""
    if given is None:
        return []
    values = vars(given)
    macros, folders = values.get("define_macro") or (), values.get("include_path") or ()
    options = [f"-std={values['std']}"] if values.get("std") else []
    options += [f"-D{_macro(one)}" for one in (macros if isinstance(macros, list) else [macros] if macros else [])]
    options += [f"-I{one}" for one in ([folders] if isinstance(folders, str) else folders)]
    return [*options, *(["--use_fast_math"] if values.get("use_fast_math") else [])]


def _macro(value: Any) -> str:
    """A macro as the compiler takes it: ``NAME``, or a pair of name and value."""
    return "=".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _from_ptx(capturing: Capturing, code: bytes | str) -> ObjectCode:
    return ObjectCode(StringModule(capturing, code.decode() if isinstance(code, bytes) else code, ptx=True))


def _launcher(capturing: Capturing) -> Callable[..., None]:
    def launch(stream: Any, config: Any, kernel: Code, *arguments: Any) -> None:
        passed = [one.handle if isinstance(one, Buffer) else plain(one) for one in arguments]
        capturing.launch(
            kernel, passed, config.grid, config.block, cluster=config.cluster or 1, shared_bytes=config.shmem_size
        )

    return launch
