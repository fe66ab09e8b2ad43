"""Work that another thread does while this one makes what it works on next."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class OneBehind:
    """A thread that does one call at a time, which this thread waits for before it gives the next one.

    A context manager: the thread has ended when its block ends.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, name)
        self._under_way: Future[Any] | None = None

    def __enter__(self) -> OneBehind:
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.shutdown()

    def start(self, work: Callable[..., Any], *args: Any) -> None:
        """Begin a call; the one before has been waited for."""
        self._under_way = self._thread.submit(work, *args)

    def wait(self) -> None:
        """Wait for the call under way; it raises what the call raised."""
        if self._under_way is not None:
            self._under_way.result()
