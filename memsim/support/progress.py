"""Progress on standard error, so that what a command prints can be piped.

On a terminal there is a bar per phase, which counts the seconds even where nothing finishes. In a pipe each phase that
takes long gets one line, with how much there is and how long it may take. Nothing is shown unless a command opens a
:func:`bar`; code below it names its phases by :func:`phase`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing import parent_process
from threading import Event, Thread, Timer
from time import monotonic
from typing import Any, Protocol

LINE_SECONDS = 3.0  # a phase that takes less gets no line in a pipe
_TICK = 0.5  # seconds between refreshes of a bar, so that a person sees that it lives


class Advance(Protocol):
    """Says how much is done of how much; `note` stands at a bar's right end."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


class _Shown:
    """A phase as it is shown, or not at all."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """As :class:`Advance`."""

    def pause(self) -> None:
        """A phase within this one begins."""

    def resume(self) -> None:
        """It has ended."""

    def close(self) -> None:
        """The phase has ended."""


class _Line(_Shown):
    """One line in a pipe, once the phase has lasted long."""

    def __init__(self, name: str, unit: str, total: int) -> None:
        self._name, self._unit, self._total, self._done = name, unit, total, 0
        self._printed = False
        self.resume()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        self._done, self._total = done, total

    def pause(self) -> None:
        self._timer.cancel()

    def resume(self) -> None:
        self._start = monotonic()
        self._timer = Timer(LINE_SECONDS, self._print)
        self._timer.daemon = True
        if not self._printed:
            self._timer.start()

    def close(self) -> None:
        self._timer.cancel()

    def _print(self) -> None:
        self._printed = True
        spent, done, total = monotonic() - self._start, self._done, self._total
        far = f"{done:,} of {total:,} {self._unit} after {spent:.0f} s" if total else f"{spent:.0f} s so far"
        left = f", about {spent * (total - done) / done:,.0f} s left" if 0 < done < total else ""
        print(f"{self._name}: {far}{left}", file=sys.stderr, flush=True)


class _Bar(_Shown):
    """A bar on a terminal, refreshed while nothing finishes."""

    def __init__(self, name: str, unit: str, total: int, delay: float) -> None:
        from tqdm import tqdm

        self._bar: Any = tqdm(
            desc=name, total=total or None, unit=f" {unit}", leave=False, dynamic_ncols=True, delay=delay
        )
        self._ended, self._paused = Event(), False
        self._ticker = Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        self._bar.total = total
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False

    def close(self) -> None:
        self._ended.set()
        self._ticker.join()
        self._bar.close()

    def _tick(self) -> None:
        begin = monotonic()
        while not self._ended.wait(_TICK):
            if not self._paused and monotonic() - begin >= self._bar.delay:
                self._bar.refresh()


_innermost: ContextVar[_Shown | None] = ContextVar("innermost", default=None)


@contextmanager
def bar(unit: str, *, hidden: bool = False, delay: float = 0.0, name: str = "", line: bool = True) -> Iterator[Advance]:
    """Show the progress of what a command does; nothing of it, or of the phases within, when hidden.

    Worker processes show nothing: their parent does.

    Args:
        unit: of what is done.
        hidden: show nothing.
        delay: seconds before a bar is shown, for what mostly takes less; it gets no line in a pipe.
        name: of the phase; empty: the unit.
        line: whether it gets a line in a pipe.

    >>> with bar("trials", hidden=True) as advance:
    ...     advance(3, 64)
    """
    seen = sys.stderr.isatty()
    hidden = hidden or parent_process() is not None or not (seen or (line and not delay))
    shown = _Shown() if hidden else _begun(name or unit, unit, 0, delay, seen)
    with _within(shown):
        yield shown


@contextmanager
def phase(name: str, unit: str = "", total: int = 0) -> Iterator[Advance]:
    """A part of the work that a bar is open for; without one, nothing is shown.

    Args:
        name: what is done, as a participle: ``coalescing``.
        unit, total: of what, and how many.

    >>> with phase("coalescing", "rows", 1000) as advance:
    ...     advance(500, 1000)
    """
    outer = _innermost.get()
    if outer is None or type(outer) is _Shown or parent_process() is not None:
        yield _Shown()
        return
    outer.pause()
    try:
        with _within(_begun(name, unit, total, 0.0, isinstance(outer, _Bar))) as shown:
            yield shown
    finally:
        outer.resume()


def _begun(name: str, unit: str, total: int, delay: float, terminal: bool) -> _Shown:
    return _Bar(name, unit, total, delay) if terminal else _Line(name, unit, total)


@contextmanager
def _within(shown: _Shown) -> Iterator[_Shown]:
    token = _innermost.set(shown)
    try:
        yield shown
    finally:
        _innermost.reset(token)
        shown.close()


@contextmanager
def hint_after(seconds: float, hint: Callable[[], None]) -> Iterator[None]:
    """Call ``hint`` once if the block takes longer than so many seconds.

    >>> with hint_after(60, lambda: print("this takes long")):
    ...     pass
    """
    timer = Timer(seconds, hint)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
