"""Triton without a GPU: a stand-in for its CUDA driver, so that ``kernel[grid](...)`` compiles, and is caught.

Triton asks a driver for the target, for the device's limits, and to load and launch what it compiled. The stand-in
answers for a GPU of memsim's, and hands each launch's PTX and arguments on. Nothing in Triton's compiler is touched.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import most_shared_bytes
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code
from memsim.sources.ptx.launchers.needed import needed
from memsim.sources.ptx.launchers.tensors import HostTensor
from memsim.sources.ptx.launchers.triton_tuner import tuners_caught
from memsim.sources.ptx.origin import beside
from memsim.sources.ptx.ptxas import architecture
from memsim.sources.ptx.tensor_map import tensor_map
from memsim.support.errors import InputError

OLDEST = 80  # Triton compiles for no older architecture
SWIZZLE_BYTES = (0, 32, 64, 128)  # by CUDA's CUtensorMapSwizzle
MOST_THREADS = 1024  # of a block, on every GPU that Triton compiles for


@contextmanager
def triton_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, Triton's launches go to ``capturing``, and kernels take numpy's arrays as they are."""
    needed("triton", "triton")
    from triton.runtime import driver
    from triton.runtime.jit import KernelInterface

    active, subscript = driver._active, KernelInterface.__getitem__

    def with_numpy(kernel: Any, grid: Any) -> Callable[..., Any]:
        launch = subscript(kernel, grid)

        def run(*arguments: Any, **named: Any) -> Any:
            return launch(*map(tensor, arguments), **{name: tensor(value) for name, value in named.items()})

        return run

    def tensor(value: Any) -> Any:
        return HostTensor(value, capturing.arrays) if isinstance(value, np.ndarray) else value

    driver.set_active(Driver(capturing))
    KernelInterface.__getitem__ = with_numpy
    try:
        with tuners_caught(capturing), _descriptors_of_numpy(tensor):
            yield
    finally:
        KernelInterface.__getitem__ = subscript
        driver.set_active(active if isinstance(active, Afterwards) else Afterwards(active, lambda: driver.default))


@contextmanager
def _descriptors_of_numpy(tensor: Callable[[Any], Any]) -> Iterator[None]:
    """Inside the block, a ``TensorDescriptor`` may be of an array of numpy, too."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    def checked(self: Any) -> None:
        self.base = tensor(self.base)
        own_check(self)

    def from_tensor(base: Any, *arguments: Any, **named: Any) -> Any:
        return own_from_tensor(tensor(base), *arguments, **named)

    own_check, own_from_tensor = TensorDescriptor.__post_init__, TensorDescriptor.from_tensor
    with patch.multiple(TensorDescriptor, __post_init__=checked, from_tensor=staticmethod(from_tensor)):
        yield


class Driver:
    """What Triton asks of the active driver (``triton.backends.driver.DriverBase``), answered without a device."""

    def __init__(self, capturing: Capturing) -> None:
        self.capturing = capturing
        self._number = max(architecture(capturing.gpu), OLDEST)
        self.utils = Utils(capturing.gpu)

    def launcher_cls(self, source: Any, metadata: Any) -> Launcher:
        return Launcher(source, metadata)

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self._number, 32)

    def get_current_device(self) -> int:
        """The architecture as the device's number: Triton keeps a kernel's compiled forms by device."""
        return self._number

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return divmod(self._number, 10)

    def get_active_torch_device(self) -> Any:
        return needed("torch", "triton").device("cuda", 0)

    def get_benchmarker(self) -> Callable[..., Any]:
        return self.capturing.benchmark


class Afterwards:
    """Triton's own driver once nothing is caught any more; kernels that were caught have nothing to unload from it.

    Args:
        active: the driver that was active before, if one was.
        default: makes the driver that Triton would choose; where there is no GPU it raises.
    """

    def __init__(self, active: Any, default: Callable[[], Any]) -> None:
        self._active, self._default = active, default

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver(), name)

    def _driver(self) -> Any:
        self._active = self._active or self._default()
        return self._active

    @property
    def utils(self) -> Any:
        return _UtilsAfterwards(self._driver)


class _UtilsAfterwards:
    def __init__(self, driver: Callable[[], Any]) -> None:
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver().utils, name)

    def unload_module(self, module: Any) -> None:
        """A module is a name if it was caught (:meth:`Utils.load_binary`)."""
        if not isinstance(module, str):
            self._driver().utils.unload_module(module)


class Utils:
    """The part of a driver that knows the device and loads binaries."""

    def __init__(self, gpu: GPU) -> None:
        self._gpu = gpu

    def get_device_properties(self, device: int) -> dict[str, int]:
        sm = self._gpu.sm
        return {
            "max_shared_mem": most_shared_bytes(self._gpu),
            "max_num_regs": sm.registers,
            "multiprocessor_count": sm.count,
            "warpSize": sm.warp_size,
            "sm_clock_rate": round(sm.clock_mhz * 1000),
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[str, str, int, int, int]:
        """Module, function, registers, spilled registers and threads at most."""
        from memsim.sources.ptx.compiled import Used, resources_of

        used = resources_of(binary, name) or Used(0)  # this Triton brings no cuobjdump: it is not known
        return name, name, used.registers, used.spill_bytes // 4, MOST_THREADS

    def unload_module(self, module: Any) -> None:
        """Nothing was loaded."""

    def fill_tma_descriptor_tiled(
        self,
        address: int,
        swizzle: int,
        element_bytes: int,
        element_type: int,
        box: Sequence[int],
        shape: Sequence[int],
        strides: Sequence[int],
        padding: int,
    ) -> bytes:
        """A tensor map; Triton's extents have the innermost dimension last, and its strides count elements."""
        if padding:
            raise InputError(
                "triton", "TensorDescriptor", "is padded with nan, which is not done here; leave padding out"
            )
        steps = [element_bytes * step for step in strides[-2::-1]]
        return tensor_map(address, element_bytes, shape[::-1], steps, box[::-1], SWIZZLE_BYTES[swizzle])


class Launcher:
    """Launches one compiled kernel: made once, called with a grid and the kernel's arguments.

    Triton keeps it with the kernel, so a later capture meets it again: who catches is asked of the active driver.
    """

    def __init__(self, source: Any, metadata: Any) -> None:
        self._metadata = metadata
        self._signature: Mapping[Any, Any] = source.signature
        file = _file(source)
        self._code = Code(_ptx(source, metadata), metadata.name, source.name, file, origin=beside(file))

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        function: Any,
        packed: Any,
        about: Any,
        enter: Any,
        leave: Any,
        *given: Any,
    ) -> None:
        from triton.runtime import driver

        values, names, self._described = [], [], 0
        for (key, kind), value in zip(self._signature.items(), given, strict=True):
            parts = list(self._parameters(kind, value))
            values += parts
            names += [str(key)] * len(parts)
        scratch = self._metadata.global_scratch_size * self._metadata.num_ctas * x * y * z
        values += [np.zeros(scratch, np.uint8) if scratch else 0, 0]  # and none for a profiler
        if enter is not None:
            enter(about)
        driver.active.capturing.launch(
            self._code, values, (x * self._metadata.num_ctas, y, z), 32 * self._metadata.num_warps,
            names=[*names, "scratch", "profile"], cluster=(self._metadata.num_ctas, 1, 1),
            shared_bytes=self._metadata.shared,
        )  # fmt: skip
        if leave is not None:
            leave(about)

    def _parameters(self, kind: Any, value: Any) -> Iterator[Any]:
        """The kernel's parameters that an argument becomes: none for a constant, several for a tuple or descriptor."""
        if kind == "constexpr":
            return
        if isinstance(kind, tuple):
            for one, part in zip(kind, value, strict=True):
                yield from self._parameters(one, part)
        elif isinstance(kind, str) and kind.startswith("tensordesc"):
            yield from self._descriptor(value)
        else:
            yield _plain(value)

    def _descriptor(self, descriptor: Any) -> Iterator[Any]:
        """A host ``TensorDescriptor``: on GPUs with TMA a tensor map, else pointer and more; then shape and strides."""
        from triton.backends.driver import decompose_descriptor
        from triton.backends.nvidia.driver import make_tensordesc_arg

        if not self._metadata.tensordesc_meta:
            yield from map(_plain, decompose_descriptor(descriptor))
            return
        about = self._metadata.tensordesc_meta[self._described]
        self._described += 1
        yield from make_tensordesc_arg(descriptor, about, None)


def _ptx(source: Any, metadata: Any) -> str:
    """The PTX that Triton keeps in its cache beside the binary."""
    from triton.runtime.cache import get_cache_manager

    group = get_cache_manager(metadata.hash).get_group(f"{source.name[:150]}.json") or {}
    return next(Path(path) for name, path in group.items() if name.endswith(".ptx")).read_text()


def _plain(value: Any) -> Any:
    """An argument as memsim takes it: an array or tensor of the host, or a number."""
    return value.array if isinstance(value, HostTensor) else value


def _file(source: Any) -> str:
    """The file that a kernel was written in, as the user would name it."""
    return os.path.relpath(inspect.getsourcefile(source.fn.fn) or "kernel")
