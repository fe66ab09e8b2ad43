"""The progress bar: on stderr, so that what a command prints can be piped; only where a person looks on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Protocol


class Advance(Protocol):
    """Tells a bar how much is done of how much; `note` stands at its right end."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def bar(unit: str, *, hidden: bool = False, delay: float = 0.0) -> Iterator[Advance]:
    """A bar that is advanced by calling ``advance(done, all, note)``; hidden when stderr is no terminal.

    Args:
        unit: of what is done.
        delay: seconds before it is shown, for what mostly takes less.

    >>> with bar("trials", hidden=True) as advance:
    ...     advance(3, 64)
    """
    from tqdm import tqdm

    hidden = hidden or not sys.stderr.isatty()
    with tqdm(unit=f" {unit}", disable=hidden, leave=False, dynamic_ncols=True, delay=delay) as shown:

        def advance(done: int, total: int, note: str = "") -> None:
            shown.total = total
            shown.set_postfix_str(note, refresh=False)
            shown.update(done - shown.n)

        yield advance


@contextmanager
def hint_after(seconds: float, tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if the block takes longer than so many seconds.

    >>> with hint_after(60, lambda: print("this takes long")):
    ...     pass
    """
    timer = Timer(seconds, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
