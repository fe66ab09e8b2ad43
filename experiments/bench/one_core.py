"""A function alone on one core, in a new process; and where the time of what it calls goes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import wraps
from multiprocessing import get_context
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch


def on_one_core(function: Callable[..., Any], *arguments: object) -> Any:
    """What a module's function returns in a new process that has one core, together with all programs it starts."""
    with get_context("spawn").Pool(1, _take_one_core) as pool:
        return pool.apply(function, arguments)


def _take_one_core() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what programs print is not for the table
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@dataclass(frozen=True)
class Spent:
    """Seconds: by the clock on the wall, of this process's CPU time, and of that of programs which it waited for."""

    wall: float = 0.0
    own: float = 0.0
    programs: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Spent)))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, one.name) - getattr(other, one.name) for one in fields(Spent)))

    @property
    def cpu(self) -> float:
        return self.own + self.programs


class Clock:
    """Sums the time between entering and leaving, or that of all calls of a function.

    >>> with Clock() as clock:
    ...     pass
    >>> 0 <= clock.spent.wall < 1
    True
    """

    def __init__(self) -> None:
        self.spent = Spent()

    def __enter__(self) -> Clock:
        self._begin = _now()
        return self

    def __exit__(self, *_: object) -> None:
        self.spent += _now() - self._begin

    def on(self, stack: ExitStack, owner: object, *names: str) -> Clock:
        """Time all calls of these functions of a module or class until the stack is left; they must not nest."""
        for name in names:
            stack.enter_context(patch.object(owner, name, self._timed(getattr(owner, name))))
        return self

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return timed


def _now() -> Spent:
    programs = getrusage(RUSAGE_CHILDREN)
    return Spent(perf_counter(), process_time(), programs.ru_utime + programs.ru_stime)
