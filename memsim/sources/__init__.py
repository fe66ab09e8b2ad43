"""Where traces come from: kernels described in Python, programs captured, other tracers' files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsim.sources.describe import Constant, Launch, Thread, Workload, load_workload, workload

__all__ = ["workload", "Launch", "Thread", "Constant", "Workload", "load_workload"]


def __getattr__(name: str) -> Any:
    """What describes kernels, imported when first asked for: reading a file needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memsim.sources import describe

    return getattr(describe, name)
