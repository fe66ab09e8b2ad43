"""The pool's worker processes behind the interface of concurrent.futures.

ProcessPoolExecutor would do, but for two things that a study needs: a worker that is killed takes only its own items
with it and another one takes its place, and all workers can be ended at once, in the middle of an item.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from memsim.montecarlo.pool import AHEAD, Killed, Worker
from memsim.support.scratch import Scratch

_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class WorkerKilled(BrokenExecutor):
    """The worker that had an item was killed, most often by the system for the memory it took."""


@dataclass
class _Item:
    future: Future
    call: _Call


class Processes(Executor):
    """Worker processes on this machine.

    Args:
        workers: how many; each is replaced when it is killed, and its items fail with :class:`WorkerKilled`.
    """

    def __init__(self, workers: int) -> None:
        self._scratch = Scratch()
        # Forked before the thread below is there: a fork copies locks that other threads hold.
        self._team = [Worker(_call, self._scratch.name) for _ in range(workers)]
        self._held: dict[int, _Item] = {}  # by number, what workers have
        self._todo: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._next: _Item | None = None
        self._ended = False
        self._bell_out, self._bell_in = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        if self._ended:
            raise RuntimeError("the executor was shut down")
        item = _Item(Future(), (function, args, kwargs))
        self._todo.put(item)
        os.write(self._bell_in, b"x")
        return item.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers; with `cancel_futures` at once, in the middle of what they do."""
        if self._ended:
            return
        if wait and not cancel_futures:
            done = self.submit(int)  # whatever comes before it is given out; then wait for that
            done.result()
            for item in list(self._held.copy().values()):
                item.future.exception()
        self._ended = True
        os.write(self._bell_in, b"x")
        self._thread.join()
        for worker in self._team:
            worker.end()
        for item in self._held.values():
            item.future.cancel()
        os.close(self._bell_in)
        os.close(self._bell_out)
        self._scratch.cleanup()

    def _serve(self) -> None:
        """Give out items and take in answers, until the executor ends."""
        number = 0
        while not self._ended:
            for slot, worker in enumerate(self._team):
                while worker.held < AHEAD and (item := self._take()) is not None:
                    number += 1
                    self._held[number] = item
                    self._give(slot, number, item)
                    worker = self._team[slot]
            ready = wait([self._bell_out, *(worker.pipe for worker in self._team)])
            if self._bell_out in ready:
                os.read(self._bell_out, 4096)
            for slot, worker in enumerate(self._team):
                if worker.pipe in ready:
                    self._answer(slot)

    def _take(self) -> _Item | None:
        while True:
            try:
                item = self._todo.get_nowait()
            except queue.Empty:
                return None
            if item.future.set_running_or_notify_cancel():
                return item

    def _give(self, slot: int, number: int, item: _Item) -> None:
        worker = self._team[slot]
        try:
            worker.give((number, item.call))
        except Killed:
            worker.numbers.add(number)
            self._replace(slot)
        except Exception as error:  # what cannot be pickled
            self._held.pop(number).future.set_exception(error)

    def _answer(self, slot: int) -> None:
        try:
            number, found, error = self._team[slot].receive()
        except Killed:
            self._replace(slot)
            return
        future = self._held.pop(number).future
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(found)

    def _replace(self, slot: int) -> None:
        """Another worker in the place of one that was killed."""
        lost = self._team[slot]
        lost.end()
        self._team[slot] = Worker(_call, self._scratch.name, method="spawn")  # a fork would copy other threads' locks
        for number in lost.numbers:
            self._held.pop(number).future.set_exception(WorkerKilled("a worker was killed (out of memory?)"))


def _call(call: _Call) -> Any:
    function, args, kwargs = call
    return function(*args, **kwargs)
