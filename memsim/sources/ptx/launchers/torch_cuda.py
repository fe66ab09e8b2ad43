"""Torch on the CPU where a program says ``device="cuda"``: tensors lie in the host's memory and say that they do not.

Torch calls a ``TorchFunctionMode`` before each of its functions. The one here takes the GPU out of what is asked, and
remembers by its storage which tensor stands for one on the GPU: those that were made or moved there, and what was
computed of them. Members of ``torch.cuda`` that ask a driver are answered for memsim's GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import most_shared_bytes
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.nothing import Nothing
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

_MARK = "_memsim_device"  # of a storage that stands for one on the GPU
_UNTIMED = "times by torch.cuda.Event are not simulated and are nan; triton.testing.do_bench is"


@contextmanager
def torch_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, torch takes the CPU where it is asked for a GPU."""
    import torch

    raw_stream = patch.object(torch._C, "_cuda_getCurrentRawStream", _answering(0), create=True)
    # A torch that was built for the CPU lacks some members.
    generator = patch.object(torch, "Generator", _generator())
    with patch.multiple(torch.cuda, create=True, **_answers(capturing)), raw_stream, generator, _mode()():
        yield


def _mode() -> type:
    """The mode's class; made here, as its base is torch's."""
    from torch import Tensor
    from torch.overrides import TorchFunctionMode
    from torch.utils import _device
    from torch.utils._device import _device_constructors

    properties = {Tensor.device.__get__: _device_of, Tensor.is_cuda.__get__: is_on_gpu}
    moves = {Tensor.to, Tensor.cuda, Tensor.cpu}

    class HostForGpu(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, arguments: tuple[Any, ...] = (), named: dict[str, Any] | None = None
        ) -> Any:
            named = named or {}
            if function in properties:
                return properties[function](arguments[0])
            if function in moves:
                return _moved(function, arguments, named)
            if function == Tensor.get_device:
                return 0 if is_on_gpu(arguments[0]) else -1
            if function == Tensor.pin_memory:
                return arguments[0]
            if function in _device_constructors():  # the mode of a default device lies below this one
                named = {"device": _device.CURRENT_DEVICE} | named
            return _called(function, arguments, named)

    return HostForGpu


def is_on_gpu(tensor: Any) -> bool:
    """Whether a tensor stands for one on the GPU."""
    storage = _storage(tensor)
    return storage is not None and hasattr(storage, _MARK)


def _storage(tensor: Any) -> Any:
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):  # sparse ones have none
        return None


def _mark(value: Any) -> None:
    """A result, or each of several, stands for a tensor on the GPU."""
    import torch

    if isinstance(value, torch.Tensor):
        storage = _storage(value)
        if storage is None:
            raise InputError("torch", str(value.layout), "is no layout on the GPU here; give kernels dense tensors")
        setattr(storage, _MARK, True)
    elif isinstance(value, list | tuple):
        for one in value:
            _mark(one)


def _device_of(tensor: Any) -> Any:
    import torch

    return torch.device("cuda", 0) if is_on_gpu(tensor) else torch.device("cpu")


def _is_gpu(device: Any) -> bool:
    """Whether a device, or its name, is a GPU's; a number alone is one of those."""
    import torch

    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    if isinstance(device, torch.device):
        return bool(device.type == "cuda")
    return isinstance(device, int) and not isinstance(device, bool)


def _called(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A function of torch on the CPU; what it makes for the GPU, or of tensors there, is marked."""
    on_gpu = any(is_on_gpu(one) for one in _tensors([*arguments, *named.values()]))
    if "device" in named and named["device"] is not None:
        on_gpu = _is_gpu(named["device"])
        named = named | {"device": "cpu" if on_gpu else named["device"]}
    done = function(*arguments, **named)
    if on_gpu and not any(done is one for one in arguments):  # in place, a tensor stays where it is
        _mark(done)
    return done


def _tensors(values: list[Any]) -> list[Any]:
    import torch

    flat = [one for value in values for one in (value if isinstance(value, list | tuple) else [value])]
    return [one for one in flat if isinstance(one, torch.Tensor)]


def _moved(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """``to``, ``cuda`` and ``cpu``: a copy where the real ones copy, as a kernel writes into what is on the GPU."""
    import torch

    tensor, *rest = arguments
    before = is_on_gpu(tensor)
    if function == torch.Tensor.to:
        after, done = _converted(tensor, rest, dict(named), before)
    else:
        after, done = function == torch.Tensor.cuda, tensor
    if after != before and done is tensor:
        done = tensor.clone()
    if after:
        _mark(done)
    return done


def _converted(tensor: Any, rest: list[Any], named: dict[str, Any], before: bool) -> tuple[bool, Any]:
    """Of ``to``: whether its result is on the GPU, and the tensor in the type and memory format that it asks for."""
    import torch

    copy, other = named.pop("copy", False), named.pop("other", None)
    if rest and isinstance(rest[0], torch.Tensor):
        other, rest = rest[0], []
    if other is not None:
        device, dtype, memory_format = _device_of(other), other.dtype, named.get("memory_format")
    else:
        device, dtype, _, memory_format = torch._C._nn._parse_to(*rest, **named)
    done = tensor.to(dtype or tensor.dtype, copy=copy, memory_format=memory_format or torch.preserve_format)
    return before if device is None else _is_gpu(device), done


def _generator() -> type:
    """The class of random number generators; those on the GPU draw the CPU's numbers."""
    import torch

    own = torch.Generator

    class OfAll(type(own)):  # type: ignore[misc]  # torch's classes have one of their own
        def __instancecheck__(cls, one: Any) -> bool:
            return isinstance(one, own)  # torch.default_generator, too, which is older than this class

    class Generator(torch.Generator, metaclass=OfAll):
        def __new__(cls, device: Any = "cpu") -> Any:
            on_gpu = _is_gpu(device)
            made = super().__new__(cls, device="cpu" if on_gpu else device)
            if on_gpu:
                made.device = torch.device("cuda", 0)
            return made

        device: Any = torch.device("cpu")

    return Generator


class _Thing(Nothing):
    """A stream, a device, a guard: made of anything, does nothing."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Whatever it is made of."""


def _event(capturing: Capturing) -> type:
    class Event(_Thing):
        """A time between two of them is not known."""

        def elapsed_time(self, other: Any) -> float:
            capturing.note(_UNTIMED)
            return math.nan

    return Event


_CLASSES = ("Stream", "device", "device_of", "_DeviceGuard", "StreamContext", "stream")
_SILENT = (
    "synchronize", "empty_cache", "set_device", "init", "_lazy_init", "reset_peak_memory_stats", "set_stream",
    "current_stream", "default_stream", "ipc_collect",
)  # fmt: skip
_ZERO = (
    "current_device", "_exchange_device", "_maybe_exchange_device", "memory_allocated", "max_memory_allocated",
    "memory_reserved", "max_memory_reserved",
)  # fmt: skip


def _answering(value: Any) -> Callable[..., Any]:
    """A function of its own that says so: torch tells functions apart by identity."""
    return lambda *arguments, **named: value


def _answers(capturing: Capturing) -> dict[str, Any]:
    """What is put in the place of members of ``torch.cuda``, by name."""
    import torch

    gpu, generator = capturing.gpu, torch.default_generator
    known = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "get_device_name": gpu.name,
        "get_device_capability": divmod(architecture(gpu), 10),
        "get_device_properties": _properties(gpu),
        "is_bf16_supported": architecture(gpu) >= 80,
    }
    known |= dict.fromkeys(_ZERO, 0) | {name: Nothing() for name in _SILENT}
    members: dict[str, Any] = {name: _answering(value) for name, value in known.items()}
    members["get_rng_state"] = lambda *_: torch.get_rng_state()
    members["set_rng_state"] = lambda state, *_: torch.set_rng_state(state)
    members["mem_get_info"] = _no_memory_size("mem_get_info")
    members |= {name: type(name, (_Thing,), {}) for name in _CLASSES} | {"Event": _event(capturing)}
    return members | {name: lambda seed: generator.manual_seed(seed) for name in ("manual_seed", "manual_seed_all")}


def _no_memory_size(name: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise InputError("torch", name, "is not known: memsim does not model how much memory a GPU has; leave it out")

    return refuse


class _Properties(SimpleNamespace):
    total_memory = property(_no_memory_size("total_memory"))


def _properties(gpu: GPU) -> Any:
    """As ``torch.cuda.get_device_properties`` gives them."""
    major, minor = divmod(architecture(gpu), 10)
    return _Properties(
        name=gpu.name,
        major=major,
        minor=minor,
        multi_processor_count=gpu.sm.count,
        warp_size=gpu.sm.warp_size,
        regs_per_multiprocessor=gpu.sm.registers,
        max_threads_per_multi_processor=gpu.sm.max_threads,
        shared_memory_per_block_optin=most_shared_bytes(gpu),
        L2_cache_size=gpu.l2.size_bytes,
    )
