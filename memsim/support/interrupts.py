"""Ctrl-C and SIGTERM that wait for steps which must not be cut in two."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come inside the block are heard when it ends.

    Blocking them for the thread would not do: the system gives them to any other thread, and Python runs their handlers
    in the main one. Elsewhere than there, nothing changes: Python interrupts no other thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: handler for number, handler in handlers.items() if handler is not None}  # None: not Python's own
    try:
        for number in ours:
            signal.signal(number, lambda *one: came.append(one))
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for came_number, frame in came[:1]:
            handler = ours[signal.Signals(came_number)]
            if callable(handler):
                handler(came_number, frame)
            elif handler is signal.SIG_DFL:
                os.kill(os.getpid(), came_number)
