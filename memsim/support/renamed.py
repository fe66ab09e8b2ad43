"""Python names that have changed: packages still offer the old ones, with a warning. They go with version 0.3."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

# Package -> old name -> new name. A class name is unique in memsim.
RENAMED: dict[str, dict[str, str]] = {
    "memsim.host": {"Program": "HostProgram", "Work": "KernelWork"},
    "memsim.measured": {"Line": "MetricLine"},
    "memsim.models.cumapz": {"Fetch": "BufferFetch", "Program": "CumapzProgram", "Scratch": "ScratchReference"},
    "memsim.sources.ptx": {"Launch": "PtxLaunch", "Memory": "DeviceMemory"},
    "memsim.studies": {"Case": "StudyCase", "Study": "DesignStudy", "StudyResult": "StudyTrials"},
}


def old_names(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package, which finds what had other names before.

    >>> old_names("memsim.host")("Nothing")
    Traceback (most recent call last):
    AttributeError: module 'memsim.host' has no attribute 'Nothing'
    """

    def find(name: str) -> Any:
        new = RENAMED[package].get(name)
        if new is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(f"{package}.{name} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[package], new)

    return find
