"""What takes long at first use, done in the background while nvcc compiles: memsim's loops and CUDA libraries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from memsim.capture.libraries import library_folder
from memsim.sources.ptx import load_loops
from memsim.support.errors import InputError


@cache
def loops() -> threading.Thread:
    """The thread that compiles the loops, or reads them from the cache; it is started at the first call."""
    return _started(load_loops)


@cache
def libraries() -> threading.Thread:
    """The thread that builds memsim's CUDA libraries if need be; who needs them gets its error again."""
    return _started(_build_libraries)


def _build_libraries() -> None:
    with suppress(InputError):
        library_folder()


def _started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
