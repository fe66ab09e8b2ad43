"""Running stale studies at once, each in a process of its own, within a time budget."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from time import monotonic, sleep

_STEP = 0.2  # seconds between looks at the running studies
TIMED = ("scale", "baghsorkhi2012")  # studies that report their own run time, and so run with nothing next to them


def order(names: Sequence[str], seconds: Callable[[str], float | None]) -> list[str]:
    """Short studies first, those whose time is unknown after them, timed ones last.

    >>> order(["a", "scale", "b", "c"], {"a": 9.0, "scale": 1.0, "b": None, "c": 2.0}.get)
    ['c', 'a', 'b', 'scale']
    """
    known = {name: seconds(name) for name in names}
    return sorted(names, key=lambda name: (name in TIMED, known[name] is None, known[name] or 0.0))


def run_all(
    names: Sequence[str], command: Callable[[str], list[str]], at_once: int, budget: float | None
) -> dict[str, str]:
    """Run studies, at most `at_once` together; returns what became of each: ``done``, ``failed`` or ``no time left``.

    Args:
        names: in the order in which they start.
        command: of a study: its arguments for this Python.
        budget: seconds in all; a study that is not over by then is ended, and its old tables stay. None: no limit.
    """
    start, waiting, became = monotonic(), list(names), {}
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            over = budget is not None and monotonic() - start >= budget
            if over:
                became |= dict.fromkeys([*waiting, *running], "no time left")
                break
            if waiting and len(running) < (1 if {waiting[0], *running} & {*TIMED} else at_once):
                name = waiting.pop(0)
                running[name] = subprocess.Popen([sys.executable, *command(name)])
            for name, process in list(running.items()):
                if process.poll() is not None:
                    became[name] = "failed" if process.returncode else "done"
                    del running[name]
            sleep(_STEP)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()
    return became
