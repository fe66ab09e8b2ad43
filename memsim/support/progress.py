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


class _Phase:
    """A phase that is shown: on a terminal by a bar, in a pipe by one line once it has lasted long.

    Attributes:
        paused: whether a phase within this one runs.
    """

    def __init__(self, name: str, unit: str, total: int, delay: float, terminal: bool) -> None:
        self.terminal, self.paused = terminal, False
        self._name, self._unit, self._done, self._total, self._delay = name, unit, 0, total, delay
        self._note = ""
        self._bar = _new_bar(name, unit, total, delay) if terminal else None
        self._ended = Event()
        self._watcher = Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        self._done, self._total = done, total
        if self._bar is not None:
            self._bar.total = total
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(done - self._bar.n)

    def annotate(self, note: str) -> None:
        self._note = note
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)

    def close(self) -> None:
        self._ended.set()
        self._watcher.join()
        if self._bar is not None:
            self._bar.close()

    def _watch(self) -> None:
        """Refresh the bar while nothing finishes, or print the line, whose wait begins anew after a pause."""
        begin, printed = monotonic(), False
        while not self._ended.wait(_TICK):
            spent = monotonic() - begin
            if self.paused:
                begin = begin if self.terminal else monotonic()
            elif self._bar is not None:
                if spent >= self._delay:
                    self._bar.refresh()
            elif spent >= LINE_SECONDS and not printed:
                printed = True
                self._print(spent)

    def _print(self, spent: float) -> None:
        done, total = self._done, self._total
        so_far = f"{spent:.0f} s so far{self._note and ', '}{self._note}"
        far = f"{done:,} of {total:,} {self._unit} after {spent:.0f} s" if total else so_far
        left = f", about {spent * (total - done) / done:,.0f} s left" if 0 < done < total else ""
        print(f"{self._name}: {far}{left}", file=sys.stderr, flush=True)


def _new_bar(name: str, unit: str, total: int, delay: float) -> Any:
    from tqdm import tqdm  # here: slow to import

    shown = {} if unit else {"bar_format": "{desc}: {elapsed}{postfix}"}  # nothing is counted
    return tqdm(desc=name, total=total or None, unit=f" {unit}", leave=False, dynamic_ncols=True, delay=delay, **shown)


def _silent(done: int, total: int, note: str = "") -> None:
    """The :class:`Advance` of what is not shown."""


# The innermost phase that is open; None where nothing is shown.
_innermost: ContextVar[_Phase | None] = ContextVar("innermost", default=None)


@contextmanager
def bar(unit: str, *, hidden: bool = False, delay: float = 0.0, name: str = "", line: bool = True) -> Iterator[Advance]:
    """Show the progress of what a command does; nothing of it, or of the phases within, when hidden.

    Worker processes show nothing: their parent does.

    Args:
        unit: of what is done; empty: nothing is counted, and :func:`annotate` says what is under way.
        hidden: show nothing.
        delay: seconds before a bar is shown, for what mostly takes less; it gets no line in a pipe.
        name: of the phase; empty: the unit.
        line: whether it gets a line in a pipe.

    >>> with bar("trials", hidden=True) as advance:
    ...     advance(3, 64)
    """
    seen = sys.stderr.isatty()
    hidden = hidden or parent_process() is not None or not (seen or (line and not delay))
    with _within(None if hidden else _Phase(name or unit, unit, 0, delay, seen)) as shown:
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
    if outer is None or parent_process() is not None:
        yield _silent
        return
    outer.paused = True
    try:
        with _within(_Phase(name, unit, total, 0.0, outer.terminal)) as shown:
            yield shown
    finally:
        outer.paused = False


@contextmanager
def _within(shown: _Phase | None) -> Iterator[Advance]:
    token = _innermost.set(shown)
    try:
        yield shown or _silent
    finally:
        _innermost.reset(token)
        if shown is not None:
            shown.close()


def annotate(note: str) -> None:
    """Show what is under way at the right end of the innermost bar, where there is one."""
    if (shown := _innermost.get()) is not None:
        shown.annotate(note)


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
