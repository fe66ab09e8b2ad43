"""The matrix multiplication tutorial's launch, and what a whole launch takes by simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memsim.exploration.benchmark_timer import replay_sample
from memsim.exploration.prune import _address, _launch
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import trace_launch


def matmul_arguments(n: int) -> tuple[dict[str, Any], Callable[[dict[str, Any]], tuple[int]]]:
    """The kernel's arguments for matrices of n rows and columns in half precision, and its grid by configuration."""
    import torch

    named: dict[str, Any] = {name: torch.zeros((n, n), dtype=torch.float16) for name in ("a_ptr", "b_ptr", "c_ptr")}
    named |= {"M": n, "N": n, "K": n}
    named |= {f"stride_{one}": n if one in ("am", "bk", "cm") else 1 for one in ("am", "ak", "bk", "bn", "cm", "cn")}
    named["ACTIVATION"] = ""
    return named, lambda meta: (-(-n // meta["BLOCK_SIZE_M"]) * -(-n // meta["BLOCK_SIZE_N"]),)


def simulated(kernel: Any, config: Any, named: dict[str, Any], gpu: Any, grid: Any) -> float:
    """Milliseconds by a simulation of the whole launch, with L2 full of other dirty lines, as autotuners leave it."""
    memory = DeviceMemory()
    addresses = {name: _address(value, name, memory) for name, value in named.items()}
    launch = _launch(kernel, config, named, addresses, gpu, {"grid": grid})
    with TemporaryDirectory() as folder:
        trace = trace_launch(launch, memory, Path(folder) / "t.h5", gpu, "all")
        return replay_sample(trace, gpu, Path(folder), flushed=True)
