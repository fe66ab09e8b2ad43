"""Studies: one simulation at every point of a design, and what the points show together (docs/how_to/studies.md)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsim.studies.result import StudyTrials
    from memsim.studies.run import DesignStudy
    from memsim.studies.store import StudyCase

__all__ = ["StudyCase", "DesignStudy", "StudyTrials"]

_LATER = {
    "StudyCase": "store",
    "DesignStudy": "run",
    "StudyTrials": "result",
}  # `memsim show` asks for the file's schema alone


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
