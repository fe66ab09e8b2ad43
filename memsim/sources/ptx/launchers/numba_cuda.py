"""Numba-CUDA without a GPU: its compiler makes the PTX, and stand-ins for its arrays and launches catch the rest."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources.ptx.launchers.arrays import is_tensor
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, entries
from memsim.sources.ptx.launchers.device_array import DeviceArray
from memsim.sources.ptx.launchers.needed import is_installed, needed
from memsim.sources.ptx.launchers.nothing import Nothing
from memsim.sources.ptx.origin import beside
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

OLDEST = 75  # that the compiler of CUDA 13 knows


def _missing(*_: Any, **__: Any) -> None:
    needed("numba_cuda", "numba-cuda")


@contextmanager
def numba_cuda_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, Numba-CUDA's launches go to ``capturing``, and its device arrays lie in the host's memory."""
    from numba import cuda

    if not is_installed("numba_cuda"):  # Numba's own needs a driver; who decorates nothing needs neither
        with patch.object(cuda, "jit", _missing):
            yield
        return
    from numba.cuda.dispatcher import CUDADispatcher

    compiled = cache(lambda kernel, kinds: _compiled(cuda, kernel, kinds, capturing.gpu))

    def configure(kernel: Any, grid: Any, block: Any, stream: Any = 0, shared: int = 0) -> Callable[..., None]:
        def launch(*arguments: Any) -> None:
            values = [_host(value) for value in arguments]
            kinds = tuple(kernel.typeof_pyval(value) for value in values)
            passed, names = [], []
            for name, kind, value in zip(kernel.py_func.__code__.co_varnames, kinds, values, strict=False):
                parts = list(_parameters(kind, value))
                passed += parts
                names += [name] * len(parts)
            capturing.launch(compiled(kernel, kinds), passed, grid, block, names=names, shared_bytes=shared)

        return launch

    def for_all(kernel: Any, tasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        threads = tpb or 256
        return configure(kernel, -(-tasks // threads), threads, stream, sharedmem)

    with (
        patch.multiple(CUDADispatcher, configure=configure, forall=for_all),
        patch.multiple(cuda, **_api(capturing.gpu)),
    ):
        yield


def _compiled(cuda: ModuleType, kernel: Any, kinds: tuple[Any, ...], gpu: GPU) -> Code:
    """A kernel's PTX for the types of its arguments."""
    options = kernel.targetoptions
    if options.get("link"):
        raise InputError(kernel.py_func.__name__, "link", "adds code of other files, which is not linked here")
    number = max(architecture(gpu), OLDEST)
    ptx, _ = cuda.compile_ptx(
        kernel.py_func, kinds, lineinfo=True, fastmath=options.get("fastmath", False), cc=divmod(number, 10),
        opt=options.get("opt", True), launch_bounds=options.get("launch_bounds"),
    )  # fmt: skip
    source = os.path.relpath(kernel.py_func.__code__.co_filename)
    return Code(ptx, entries(ptx)[0], kernel.py_func.__name__, source, origin=beside(source))


def _host(value: Any) -> Any:
    """An argument as Numba's typing knows it: an array of numpy, or a scalar."""
    if is_tensor(value):
        return value.numpy()
    return value.view(np.ndarray) if isinstance(value, DeviceArray) else value


def _parameters(kind: Any, value: Any) -> Iterator[Any]:
    """The kernel's parameters that an argument becomes, in the layout of Numba's arrays and scalars."""
    types: Any = importlib.import_module("numba.cuda").types
    if isinstance(kind, types.Array):
        yield from (0, 0, value.size, value.itemsize, value, *value.shape, *value.strides)  # no owner, no parent
    elif isinstance(kind, types.BaseTuple):
        for one, part in zip(kind, value, strict=True):
            yield from _parameters(one, part)
    elif isinstance(kind, types.Complex):
        part = np.float32 if kind.bitwidth == 64 else np.float64
        yield from (part(value.real), part(value.imag))
    elif isinstance(kind, types.EnumMember):
        yield from _parameters(kind.dtype, value.value)
    elif isinstance(kind, types.Integer | types.Float | types.Boolean):
        yield np.dtype(str(kind).replace("boolean", "int8").replace("bool", "int8")).type(value)
    else:
        raise InputError(
            "numba-cuda", f"argument of type {kind}", "is not passed to kernels here; give arrays and numbers"
        )


def _api(gpu: GPU) -> dict[str, Any]:
    """The functions of ``numba.cuda`` that would ask for a device."""

    def empty(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", **_: Any) -> DeviceArray:
        return np.empty(shape, dtype, order).view(DeviceArray)  # type: ignore[call-overload]

    def like(array: Any, stream: Any = 0) -> DeviceArray:
        return np.empty_like(np.asarray(array)).view(DeviceArray)

    def to_device(values: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceArray:
        if to is None:
            return DeviceArray.of(values)
        to.copy_to_device(values)
        return to

    nothing = Nothing()
    arrays = dict.fromkeys(("device_array", "pinned_array", "mapped_array", "managed_array"), empty)
    likes = dict.fromkeys(("device_array_like", "pinned_array_like", "mapped_array_like"), like)
    others = ("stream", "default_stream", "event", "synchronize", "pinned", "current_context", "select_device", "close")
    return {
        **arrays, **likes, **dict.fromkeys(others, nothing),
        "to_device": to_device,
        "is_available": lambda: True,
        "get_current_device": lambda: Device(gpu),
        "gpus": [Device(gpu)],
    }  # fmt: skip


class Device:
    """The device that a program asks for its limits."""

    def __init__(self, gpu: GPU) -> None:
        self.name = gpu.name
        self.compute_capability = divmod(architecture(gpu), 10)
        self.MULTIPROCESSOR_COUNT = gpu.sm.count
        self.MAX_THREADS_PER_BLOCK = 1024
        self.MAX_SHARED_MEMORY_PER_BLOCK = 48 << 10
        self.WARP_SIZE = gpu.sm.warp_size
