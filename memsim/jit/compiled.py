"""How loops are compiled, kept on disk, and found there again in little time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from numba import njit

from memsim.jit.loop_counts import counts
from memsim.jit.mode import PLAIN_NUMBA, PLAIN_PYTHON
from memsim.support.progress import bar, hint_after

LOADING = "loading compiled loops; the first use on this machine compiles them ..."
PATIENCE = 2.0  # seconds of silence before a message is printed; from disk the loops take a tenth of a second


def compiled(**options: Any) -> Callable[[Any], Any]:
    """A decorator for loops that allocate nothing: compiled once, kept on disk, plain Python under NUMBA_DISABLE_JIT=1.

    No loop counts references: nothing here allocates, and counting those to the arrays of a tuple at every call made
    reading a trace twice as long, and a trial four times (measured). Division by zero does not raise.

    Args:
        options: more of Numba's, for example ``forceinline=True``.
    """

    def decorate(function: Any) -> Any:
        if PLAIN_PYTHON:
            return function
        if PLAIN_NUMBA:
            return njit(function, error_model="numpy", nogil=options.get("nogil", False))
        from memsim.jit.cached_loop import cached_loop

        return cached_loop(function, options)

    return decorate


@contextmanager
def loading_loops() -> Iterator[None]:
    """Around the first use of loops: if it takes long, the user reads why, and how many are compiled."""

    def print_hint() -> None:
        if not counts.reported:
            counts.reported = True
            print(LOADING, file=sys.stderr)

    with hint_after(PATIENCE, print_hint), bar("loops", delay=PATIENCE) as advance:
        numbers = count(1)

        def compiled_one() -> None:
            number = next(numbers)
            advance(number, max(number, counts.made))

        counts.when_compiled.append(compiled_one)
        try:
            yield
        finally:
            counts.when_compiled.remove(compiled_one)


# Called from elsewhere.
loop = compiled(nogil=True)
# Also into the caller: functions that are called for every word of a log, or that get named tuples of some thirty
# arrays and hand them on; by value, such a tuple made a trial nearly three times as long.
inlined = compiled(nogil=True, forceinline=True)
# A function of its own in the machine code, unless it is small: for rare work and for large functions. Without the word
# Numba gives it what its caller has, so that a part of what is inlined is inlined as well.
called = compiled(nogil=True, forceinline=False)
