"""How the loops of sources are compiled."""

from __future__ import annotations

from pathlib import Path

from numba import njit

# Without counting references: nothing here allocates, and counting those to the arrays of a tuple at every call made
# reading a trace twice as long (measured).
loop = njit(cache=True, nogil=True, _nrt=False, error_model="numpy")  # type: ignore[call-overload]
# Also into the caller: for functions that get many arrays and are called for every word of a log.
inlined = njit(cache=True, nogil=True, _nrt=False, error_model="numpy", forceinline=True)  # type: ignore[call-overload]

_FOLDERS = (".", "accelsim", "nvbit", "capture", "describe")


def _drop_stale() -> None:
    """Forget loops on disk that are older than any source here: Numba looks at a function's own file only, not at the
    files of the functions that it calls."""
    here = Path(__file__).parent
    newest = max(source.stat().st_mtime for folder in _FOLDERS for source in (here / folder).glob("*.py"))
    for folder in _FOLDERS:
        for index in (here / folder / "__pycache__").glob("*.nbi"):
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)


_drop_stale()
