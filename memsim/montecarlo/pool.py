"""Worker processes that can be ended at any moment, and end with their parent.

Each has a pipe of its own. concurrent.futures has one for the results of all: a worker that is killed while it writes
there leaves half a message, for whose other half everybody waits.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
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


def in_processes(
    function: Callable[[Item], Found], items: Iterable[Item], workers: int
) -> Generator[tuple[int, Found], None, None]:
    """`function` of every item, in so many processes: (number of the item, what was found), as they finish.

    Closing the generator ends the workers at once, and removes their temporary files: killed, they could not.

    Args:
        function: of a module (or a partial of one), as another process must find it.
        items: taken when a worker has room for one.

    Raises:
        InputError: a worker was killed; and whatever `function` raises, with the worker's traceback as a note.
    """
    todo = enumerate(items)
    team: list[Worker] = []
    scratch = Scratch()
    try:
        for _ in range(workers):
            if mine := list(islice(todo, AHEAD)):
                with deferred():  # until the worker is in the team, and heeds no signal itself
                    team.append(Worker(function, scratch.name))
                for item in mine:
                    team[-1].give(item)
        while busy := {worker.pipe: worker for worker in team if worker.held}:
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                number, found, error = worker.receive()
                if error is not None:
                    raise error
                for item in islice(todo, 1):
                    worker.give(item)
                yield number, found
    except Killed:
        problem = f"is {workers}; a worker was killed (out of memory?), give fewer"
        raise InputError("run", "jobs", problem) from None
    finally:
        with deferred():
            for worker in team:
                worker.end()
            scratch.cleanup()


class Killed(Exception):
    """A worker process was ended by somebody else."""


class Worker:
    """The parent's side of a process.

    Args:
        function: of one item.
        scratch: folder for its temporary files.
        method: how it starts; None: by a fork, where forks are safe.

    Attributes:
        pipe: to the process.
        numbers: of the items that it has and has not answered.
    """

    def __init__(self, function: Callable[..., Any], scratch: str, method: str | None = None) -> None:
        context: Any = multiprocessing.get_context(method or ("fork" if platform.system() == "Linux" else "spawn"))
        self.pipe, theirs = context.Pipe()
        self.numbers: set[int] = set()
        self._process = context.Process(target=_work, args=(function, theirs, scratch), daemon=method is not None)
        self._process.start()
        theirs.close()  # so that the process's end is the pipe's

    @property
    def held(self) -> int:
        """How many items it has and has not answered."""
        return len(self.numbers)

    def give(self, item: tuple[int, Any]) -> None:
        """Hand over an item and its number; raises Killed."""
        with _noticing_its_death():
            self.pipe.send(item)
        self.numbers.add(item[0])

    def receive(self) -> tuple[int, Any, Exception | None]:
        """Wait for an answer: the item's number, what was found, or what was raised. Raises Killed."""
        with _noticing_its_death():
            number, found, error = self.pipe.recv()
        self.numbers.discard(number)
        return number, found, error

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def _noticing_its_death() -> Generator[None, None, None]:
    try:
        yield
    except (EOFError, OSError):  # OSError: in the middle of a message
        raise Killed from None


def _work(function: Callable[[Any], Any], pipe: Connection, scratch: str) -> None:
    """What a worker does, until it is killed."""
    tempfile.tempdir = scratch
    os.environ[VARIABLE] = "1"  # its cores are taken by the other workers
    for number in (signal.SIGINT, signal.SIGTERM):  # for the parent, which keeps what is finished and ends its workers
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        number, item = pipe.recv()
        found, failed = None, None
        try:
            found = function(item)
        except Exception as error:
            error.add_note(traceback.format_exc())
            failed = error
        pipe.send((number, found, failed))


def _end_with_parent() -> None:
    """A killed parent cannot end its workers."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
