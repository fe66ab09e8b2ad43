"""Keeps the configurations of a Triton kernel that simulation predicts to be fastest, before any is timed on a GPU.

Each configuration is compiled by Triton for the GPU and run by memsim on samples of its blocks, as programs' benchmarks
are (:mod:`memsim.exploration.benchmark_timer`). Triton's driver is replaced while it compiles, so no GPU is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from memsim.exploration.benchmark_timer import BenchmarkTimer
from memsim.gpu.config import GPU
from memsim.sources.ptx.launch import PtxLaunch, with_code
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.ptxas import registers_of
from memsim.sources.ptx.trace import KernelRun
from memsim.sources.sass.assemble import needs_of, target
from memsim.sources.sass.choice import kernel_for
from memsim.support.errors import InputError

_OF_THE_CALL = ("grid", "warmup")  # keyword arguments of Triton's launch that are not the kernel's
_SCRATCH = 2  # pointers that Triton adds behind a kernel's own: to global memory, and for its profiler


def predicted_times(
    configs: Sequence[Any], named_args: Mapping[str, Any], gpu: GPU, kernel: Any = None, **kwargs: Any
) -> list[tuple[Any, float]]:
    """Milliseconds of a Triton kernel in each configuration, the fastest first; infinite where it cannot be simulated.

    Args:
        configs: a list of ``triton.Config``.
        named_args: the launch's arguments by name: tensors, numbers.
        gpu: to compile for and to simulate.
        kernel: the function with ``@triton.jit``, ``@triton.heuristics`` around it or not; None: that of the autotuner
            which calls.
        kwargs: ``grid``, and further arguments of the launch.

    Raises:
        InputError: Triton is not installed, no kernel or grid is given, an entry is no configuration, or none can be
            simulated.
    """
    function, timer = kernel if kernel is not None else _of_caller(), BenchmarkTimer(gpu, report=lambda line: None)
    if "grid" not in kwargs:
        raise InputError("prune", "grid", "is not given; call the kernel as kernel[grid](...), or give grid=")
    for config in configs:
        if not hasattr(config, "all_kwargs"):
            raise InputError("prune", "configs", f"has a {type(config).__name__}; give triton.Config alone")
    memory, addresses = DeviceMemory(), dict[str, Any]()
    for name, value in named_args.items():
        addresses[name] = _address(value, name, memory)
    found, problems = [], []
    for config in configs:
        try:
            launch = _launch(function, config, dict(named_args), addresses, gpu, kwargs)
            run = KernelRun(launch, memory, check=False, tracing=True)
            found.append((config, timer.simulate(run, flushed=True)))
        except InputError as error:
            problems.append(f"{config}: {error}")
            found.append((config, inf))
    if all(time == inf for _, time in found):
        raise InputError("prune", "configs", f"cannot be simulated: {problems[0] if problems else 'there are none'}")
    return sorted(found, key=lambda one: one[1])


def _of_caller() -> Any:
    """The kernel of the calling autotuner, which its pruning functions do not receive."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        one = frame.f_locals.get("self")
        if hasattr(one, "early_config_prune") and hasattr(one, "fn"):
            return one.fn
        frame = frame.f_back
    raise InputError("prune", "kernel", "is missing, and the caller is not a Triton autotuner; give kernel=")


def _launch(
    function: Any, config: Any, named: dict[str, Any], addresses: Mapping[str, Any], gpu: GPU, kwargs: dict[str, Any]
) -> PtxLaunch:
    """The launch of a configuration."""
    more = {name: value for name, value in kwargs.items() if name not in _OF_THE_CALL}
    function, given = _with_heuristics(function, named | more | config.all_kwargs())
    compiled = _compiled(function, gpu, given)
    text, entry = compiled.asm["ptx"], compiled.metadata.name
    values = {name: addresses.get(name, given.get(name)) for name, kind in compiled.src.signature.items()
              if kind != "constexpr"}  # fmt: skip
    grid = kwargs["grid"]
    x, y, z = map(int, (*(grid(given) if callable(grid) else grid), 1, 1)[:3])
    registers, _ = registers_of(needs_of(text, entry, gpu), entry)
    launch = PtxLaunch(
        ptx=text, kernel=entry, grid=(x, y, z), block=(32 * compiled.metadata.num_warps, 1, 1),
        arguments=[], shared_bytes=int(compiled.metadata.shared), source=str(function.__name__),
        parameters={"launch": 0, "order": 0, "compiled_for": target(text)}, name=str(function.__name__),
    )  # fmt: skip
    scratch = len(launch.function.parameters) - len(values)
    if not 0 <= scratch <= _SCRATCH:
        problem = f"are {len(launch.function.parameters)} in PTX and {len(values)} in Python; unsupported Triton"
        raise InputError("prune", "parameters", problem)
    launch = replace(launch, arguments=[*values.values(), *[0] * scratch], registers=registers)
    return with_code(launch, kernel_for(text, entry, gpu))


def _with_heuristics(function: Any, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The function with ``@triton.jit``, and its arguments with those that ``@triton.heuristics`` around it add."""
    given = dict(arguments)
    while hasattr(function, "fn") and not hasattr(function, "device_caches"):
        for name, value in getattr(function, "values", {}).items():
            given[name] = value(given)
        function = function.fn
    return function, given


def _compiled(function: Any, gpu: GPU, arguments: Mapping[str, Any]) -> Any:
    """What Triton makes of the kernel."""
    with _driver_for(gpu):
        try:
            return function.run(grid=(1,), warmup=True, **arguments)
        except Exception as error:  # of Triton's compiler: any
            text = str(error).strip().splitlines() or [type(error).__name__]
            raise InputError("prune", "compilation", f"fails: {text[0]:.200}") from error


@contextmanager
def _driver_for(gpu: GPU) -> Iterator[None]:
    """Triton compiles for the GPU inside."""
    try:
        from triton.runtime import driver
    except ImportError:
        raise InputError("prune", "triton", "is not installed; pip install triton") from None
    before = driver._active
    driver.set_active(driver_of(gpu))
    try:
        yield
    finally:
        driver._active = before


def driver_of(gpu: GPU) -> Any:
    """A driver for Triton that compiles for the GPU and launches nothing.

    Raises:
        InputError: the GPU is AMD's.
    """
    number = gpu.architecture_number
    from triton.backends.compiler import GPUTarget

    class Driver:
        """A target to compile for; it cannot launch anything."""

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", number, 32)

        def get_current_device(self) -> str:
            return f"memsim {gpu.compute_capability}"  # whose kernels Triton keeps apart from other devices'

        def get_current_stream(self, device: Any) -> int:
            return 0

    return Driver()


def _address(value: Any, name: str, memory: DeviceMemory) -> Any:
    """The device address of a tensor's first element, or a number as it is."""
    if not hasattr(value, "untyped_storage"):
        return value
    import torch

    storage = value.detach().untyped_storage().cpu()
    data = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
    return memory.add(np.ascontiguousarray(data), name) + value.storage_offset() * value.element_size()
