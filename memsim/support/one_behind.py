"""Work that another thread does at the same time: on what this one made before, or for what it needs next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
_END = object()


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

    def wait(self) -> Any:
        """Wait for the call under way; it returns what the call returned, and raises what the call raised."""
        return self._under_way.result() if self._under_way is not None else None


def read_ahead(items: Iterable[Item], name: str) -> Iterator[Item]:
    """The items of an iterable, each made by another thread while the caller works on the one before.

    >>> list(read_ahead("abc", "reader"))
    ['a', 'b', 'c']
    """
    with OneBehind(name) as thread:
        left = iter(items)
        thread.start(next, left, _END)
        while (item := thread.wait()) is not _END:
            thread.start(next, left, _END)
            yield item
