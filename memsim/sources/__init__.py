"""Where traces come from: kernels described in Python, programs captured, other tracers' files."""

from __future__ import annotations

from typing import Any

_DESCRIBE = ("workload", "Launch", "Thread", "Constant", "Texture", "Workload", "load_workload")


def __getattr__(name: str) -> Any:
    """What describes kernels, imported when first asked for: reading a file needs none of it."""
    if name not in _DESCRIBE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memsim.sources import describe

    return getattr(describe, name)
