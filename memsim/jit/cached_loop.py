"""Loops with memsim's extensions of Numba: compiled as one with the functions that they call, and kept on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core.caching import FunctionCache

from memsim.jit.jit_units import Loop, being_compiled
from memsim.jit.loop_cache import LoopCacheImpl, hold_lock
from memsim.jit.loop_counts import counts


class CachedLoop(FunctionCache):
    """A loop's machine code on disk, read without what only a compilation needs.

    Before it reads, Numba's own cache imports its implementation of all of NumPy (and SciPy's linear algebra, to see
    whether it is there): half a second, of which a compiled loop has no use. A compilation still begins with it. Only
    for loops without reference counting (`_nrt=False`): what counts references is set up there too. The disk is not
    looked at before a loop is called: most are inlined in others.
    """

    _impl_class = LoopCacheImpl

    def __init__(self, function: Any) -> None:
        self._function, self._opened = function, False
        counts.made += 1

    def load_overload(self, signature: Any, context: Any) -> Any:
        if being_compiled():
            return None  # a part of that
        self._open()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        if not being_compiled():
            self._open()
            with suppress(OSError):  # a full disk: the loop is compiled again next time
                super().save_overload(signature, data)
        for call in counts.when_compiled:
            call()

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Around a compilation: other processes that would compile the same loop wait, and then find it on disk."""
        if being_compiled():
            yield
            return
        self._open()
        with hold_lock(f"{self.cache_path}/{self._impl.filename_base}"):
            yield

    def _open(self) -> None:
        if not self._opened:
            super().__init__(self._function)
            self._opened = True


def cached_loop(function: Any, options: dict[str, Any]) -> Loop:
    """A loop that counts no references."""
    return Loop(function, {"_nrt": False, "error_model": "numpy", **options}, CachedLoop(function))


def found_on_disk(dispatcher: Any, signature: tuple[Any, ...]) -> bool:
    """Make ready the loop for arguments of these types if it was compiled before."""
    loaded = dispatcher._cache.load_overload(signature, dispatcher.targetctx)
    if loaded is not None:
        dispatcher.targetctx.insert_user_function(loaded.entry_point, loaded.fndesc, [loaded.library])
        dispatcher.add_overload(loaded)
    return loaded is not None
