"""Kernels as PTX, run on the CPU for what their warps access: the front end of every language that compiles to it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsim.sources.ptx.first_use import load_loops
    from memsim.sources.ptx.launch import PtxLaunch
    from memsim.sources.ptx.memory import DeviceMemory
    from memsim.sources.ptx.trace import execute, trace_launch

__all__ = ["PtxLaunch", "DeviceMemory", "execute", "load_loops", "trace_launch"]

_LATER = {  # machine code uses modules of this package, and `trace` uses machine code
    "PtxLaunch": "launch",
    "DeviceMemory": "memory",
    "execute": "trace",
    "load_loops": "first_use",
    "trace_launch": "trace",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
