"""Ctrl-C and SIGTERM: none is lost, and none cuts a step in two that must stay whole."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_Handlers = dict[int, Callable[[int, FrameType | None], object] | int]
_heard: list[int] = []  # signals that came while somebody listens


@contextmanager
def listening() -> Iterator[None]:
    """Signals that come inside the block are noted before their handlers raise, for :func:`raise_heard`."""
    handlers = _handlers()

    def note(number: int, frame: FrameType | None) -> None:
        _heard.append(number)
        _pass_on(handlers[number], number, frame)

    try:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, note)
        yield
    finally:
        _restore(handlers)
        _heard.clear()


def raise_heard() -> None:
    """Raise KeyboardInterrupt if a signal was heard that nobody has acted on.

    Python drops what a handler raises while a finalizer or the callback of a weak reference runs ("Exception ignored
    in"), an interrupt like anything else; one in a hundred fell there while compiled loops were read from disk.
    """
    if _heard:
        _heard.clear()
        raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come inside the block are heard when it ends.

    Blocking them for the thread would not do: the system gives them to any other thread, and Python runs their handlers
    in the main one. Elsewhere than there, nothing changes: Python interrupts no other thread.
    """
    came: list[tuple[int, FrameType | None]] = []
    handlers = _handlers()
    try:
        for number in handlers:
            signal.signal(number, lambda *one: came.append(one))
        yield
    finally:
        _restore(handlers)
        for number, frame in came[:1]:
            _pass_on(handlers[number], number, frame)


def _handlers() -> _Handlers:
    """Who handles each signal; none outside the main thread, and none that is not Python's own."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {int(number): signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in found.items() if handler is not None}


def _restore(handlers: _Handlers) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _pass_on(handler: Callable[[int, FrameType | None], object] | int, number: int, frame: FrameType | None) -> None:
    if callable(handler):
        handler(number, frame)
    elif handler == signal.SIG_DFL:
        os.kill(os.getpid(), number)
