"""Worker processes that can be ended at any moment, and end with their parent.

Each worker has a pipe of its own. concurrent.futures and loky have one pipe for all results: if a worker is killed
while it writes there, half a message remains, and the pool hangs or breaks. Here a killed worker loses only its own
items, another one takes its place, and all workers can be ended in the middle of an item.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, TypeVar

from memsim.support.cores import VARIABLE
from memsim.support.errors import InputError
from memsim.support.interrupts import deferred
from memsim.support.scratch import Scratch

Item = TypeVar("Item")
Found = TypeVar("Found")

AHEAD = 2  # items that a worker holds, so that it never waits for the next


class WorkerKilled(BrokenExecutor):
    """The worker of an item was killed, most often by the system because it used too much memory."""


class Processes:
    """Workers that apply a function to items.

    Args:
        function: called with the parts of an item. A function of a module (or a partial of one), since another process
            must find it.
        workers: at most so many; each starts when there is an item for it.
    """

    def __init__(self, function: Callable[..., Any], workers: int) -> None:
        self._function, self._most = function, workers
        self._scratch = Scratch()
        self._team: list[_Worker] = []

    def room(self) -> int:
        """How many more items would keep all workers busy."""
        return AHEAD * self._most - sum(len(worker.keys) for worker in self._team)

    def begin(self, key: Any, *item: Any) -> None:
        """Hand over an item, whose answer comes with the key."""
        worker = min(self._team, key=lambda one: len(one.keys), default=None)
        if worker is None or (worker.keys and len(self._team) < self._most):
            worker = self._start()
        worker.give(key, item)

    def answers(self) -> list[tuple[Any, Any, Exception | None]]:
        """Wait for one answer or more: each item's key, what was found, or what was raised.

        The items of a worker that was killed are answered with :class:`WorkerKilled`.
        """
        found: list[tuple[Any, Any, Exception | None]] = []
        busy = {worker.pipe: worker for worker in self._team if worker.keys}
        for pipe in wait(list(busy)):
            worker = busy[pipe]
            try:
                found.append(worker.receive())
            except _Killed:
                self._team.remove(worker)
                worker.end()
                lost = WorkerKilled("a worker was killed (out of memory?)")
                found += [(key, None, lost) for key in worker.keys]
        return found

    def close(self) -> None:
        """End the workers at once, and remove their temporary files, which a killed worker cannot do."""
        with deferred():
            for worker in self._team:
                worker.end()
            self._team.clear()
            self._scratch.cleanup()

    def _start(self) -> _Worker:
        with deferred():  # until the worker is in the team, and heeds no signal itself
            self._team.append(_Worker(self._function, self._scratch.name))
        return self._team[-1]


def in_processes(
    function: Callable[[Item], Found], items: Iterable[Item], workers: int
) -> Generator[tuple[int, Found], None, None]:
    """`function` of every item, in so many processes: (number of the item, what was found), as they finish.

    One is this process itself. Closing the generator ends the workers at once.

    Args:
        function: see :class:`Processes`.
        items: taken when a worker has room for one.

    Raises:
        InputError: a worker was killed; and whatever `function` raises, with the worker's traceback as a note.
    """
    if workers <= 1:
        yield from ((number, function(item)) for number, item in enumerate(items))
        return
    todo, under_way = enumerate(items), 0
    with closing(Processes(function, workers)) as team:
        while True:
            for number, item in islice(todo, team.room()):
                team.begin(number, item)
                under_way += 1
            if not under_way:
                return
            for number, found, error in team.answers():
                if isinstance(error, WorkerKilled):
                    problem = f"is {workers}; a worker was killed (out of memory?), give fewer"
                    raise InputError("run", "jobs", problem)
                if error is not None:
                    raise error
                under_way -= 1
                yield number, found


class _Killed(Exception):
    """A worker process was ended by somebody else."""


class _Worker:
    """The parent's side of a process.

    Args:
        function: of the parts of an item.
        scratch: folder for its temporary files.

    Attributes:
        pipe: to the process.
        keys: of the items that it has and has not answered.
    """

    def __init__(self, function: Callable[..., Any], scratch: str) -> None:
        context: Any = multiprocessing.get_context("fork" if platform.system() == "Linux" else "spawn")
        self.pipe, theirs = context.Pipe()
        self.keys: set[Any] = set()
        self._process = context.Process(target=_work, args=(function, theirs, scratch))
        self._process.start()
        theirs.close()  # so that the process's end is the pipe's

    def give(self, key: Any, item: tuple[Any, ...]) -> None:
        """Send an item. If the worker is gone, waiting for the answer reports it."""
        with suppress(_Killed), _noticing_its_death():
            self.pipe.send((key, item))
        self.keys.add(key)

    def receive(self) -> tuple[Any, Any, Exception | None]:
        """Wait for an answer: an item's key, what was found, or what was raised. Raises _Killed."""
        with _noticing_its_death():
            key, found, error = self.pipe.recv()
        self.keys.discard(key)
        return key, found, error

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def _noticing_its_death() -> Generator[None, None, None]:
    try:
        yield
    except (EOFError, OSError):  # OSError: in the middle of a message
        raise _Killed from None


def _work(function: Callable[..., Any], pipe: Connection, scratch: str) -> None:
    """What a worker does, until it is killed."""
    tempfile.tempdir = scratch
    os.environ[VARIABLE] = "1"  # its cores are taken by the other workers
    for number in (signal.SIGINT, signal.SIGTERM):  # for the parent, which keeps what is finished and ends its workers
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        key, item = pipe.recv()
        found, failed = None, None
        try:
            found = function(*item)
        except Exception as error:
            error.add_note(traceback.format_exc())
            failed = error
        pipe.send((key, found, failed))


def _end_with_parent() -> None:
    """End this worker when its parent dies: a killed parent cannot end its workers."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
