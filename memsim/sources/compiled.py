"""How the loops of sources are compiled."""

from __future__ import annotations

from pathlib import Path

from numba import njit

from memsim.stale import drop_stale

# Without counting references: nothing here allocates, and counting those to the arrays of a tuple at every call made
# reading a trace twice as long (measured).
loop = njit(cache=True, nogil=True, _nrt=False, error_model="numpy")  # type: ignore[call-overload]
# Also into the caller: for functions that get many arrays and are called for every word of a log.
inlined = njit(cache=True, nogil=True, _nrt=False, error_model="numpy", forceinline=True)  # type: ignore[call-overload]

drop_stale(Path(__file__).parent)
