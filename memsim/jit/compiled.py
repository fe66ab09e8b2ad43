"""How loops are compiled, kept on disk, and found there again in little time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, ClassVar

from numba import config
from numba.core.caching import FunctionCache

from memsim.jit.jit_units import Loop, being_compiled
from memsim.jit.loop_cache import LoopCacheImpl, alone
from memsim.support.progress import bar, hint_after

LOADING = "loading the inner loops; the first time on this machine they are compiled ..."
PATIENCE = 2.0  # seconds of silence before the user is told; from disk the loops take a tenth of a second


class _Kept(FunctionCache):
    """A loop's machine code on disk, read without what only a compilation needs.

    Before it reads, Numba's own cache imports its implementation of all of NumPy (and SciPy's linear algebra, to see
    whether it is there): half a second, of which a compiled loop has no use. A compilation still begins with it. Only
    for loops without reference counting (`_nrt=False`): what counts references is set up there too. The disk is not
    looked at before a loop is called: most are inlined in others.
    """

    _impl_class = LoopCacheImpl
    made: ClassVar[list[_Kept]] = []  # of all loops
    when_saved: ClassVar[list[Callable[[], None]]] = []  # told of every loop that was compiled
    told: ClassVar[bool] = False  # whether this process has said that it takes long

    def __init__(self, function: Any) -> None:
        self._function, self._opened = function, False
        self.made.append(self)

    def load_overload(self, signature: Any, context: Any) -> Any:
        if being_compiled():
            return None  # a part of that
        self._open()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        if not being_compiled():
            self._open()
            super().save_overload(signature, data)
        for tell in self.when_saved:
            tell()

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Around a compilation: other processes that would compile the same loop wait, and then find it on disk."""
        if being_compiled():
            yield
            return
        self._open()
        with alone(f"{self.cache_path}/{self._impl.filename_base}"):
            yield

    def _open(self) -> None:
        if not self._opened:
            super().__init__(self._function)
            self._opened = True


def compiled(**options: Any) -> Callable[[Any], Any]:
    """A decorator for loops that allocate nothing: compiled once, kept on disk, plain Python under NUMBA_DISABLE_JIT=1.

    No loop counts references: nothing here allocates, and counting those to the arrays of a tuple at every call made
    reading a trace twice as long, and a trial four times (measured). Division by zero does not raise.

    Args:
        options: more of Numba's, for example ``forceinline=True``.
    """

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        return Loop(function, {"_nrt": False, "error_model": "numpy", **options}, _Kept(function))

    return decorate


def found_on_disk(dispatcher: Any, signature: tuple[Any, ...]) -> bool:
    """Make ready the loop for arguments of these types if it was compiled before."""
    kept = dispatcher._cache.load_overload(signature, dispatcher.targetctx)
    if kept is not None:
        dispatcher.targetctx.insert_user_function(kept.entry_point, kept.fndesc, [kept.library])
        dispatcher.add_overload(kept)
    return kept is not None


@contextmanager
def loading_loops() -> Iterator[None]:
    """Around the first use of loops: tells the user, should it take long, why, and how many are compiled."""

    def tell() -> None:
        if not _Kept.told:
            _Kept.told = True
            print(LOADING, file=sys.stderr)

    with hint_after(PATIENCE, tell), bar("loops", delay=PATIENCE) as advance:
        numbers = count(1)

        def compiled_one() -> None:
            number = next(numbers)
            advance(number, max(number, len(_Kept.made)))

        _Kept.when_saved.append(compiled_one)
        try:
            yield
        finally:
            _Kept.when_saved.remove(compiled_one)


# Called from elsewhere.
loop = compiled(nogil=True)
# Also into the caller: functions that are called for every word of a log, or that get named tuples of some thirty
# arrays and hand them on; by value, such a tuple made a trial nearly three times as long.
inlined = compiled(nogil=True, forceinline=True)
# A function of its own in the machine code, unless it is small: for rare work and for large functions. Without the word
# Numba gives it what its caller has, so that a part of what is inlined is inlined as well.
called = compiled(nogil=True, forceinline=False)
