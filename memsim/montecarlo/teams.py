"""Where trials run: in this process, in local ones, on dask's workers, or under MPI.

What differs is also how a trace gets to the workers' machines.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from shutil import rmtree
from typing import Any

from memsim.montecarlo.pool import Processes
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

KINDS = ("local", "dask", "mpi")
_AHEAD = 3  # tasks a worker of a cluster, so that none waits for the next
_PATIENCE = 20  # seconds for the scheduler to answer
_AT_LEAST = 32  # tasks on a cluster, which may add workers when it sees work
_LOST = ("KilledWorker", "FutureCancelledError", "FutureLostError")  # of distributed, which may not be installed


@dataclass(frozen=True)
class Team:
    """Workers, and how to reach them.

    Attributes:
        workers: take the items.
        share: what items are given in the place of a trace: its file, or what becomes its bytes on the way.
        folder: of what trials share, on each worker's machine.
    """

    workers: Workers
    share: Callable[[Trace], Any]
    folder: Path


@contextmanager
def team(text: str, jobs: int, function: Callable[..., Any], scratch: Path) -> Iterator[Team]:
    """The workers that a user asks for, ended with the block: at once, whatever they do, if it raises.

    Args:
        text: ``local``, ``dask``, ``dask:ADDRESS`` or ``mpi``.
        jobs: processes, of local and of dask's without an address.
        function: of the parts of an item; of a module, as another process must find it.
        scratch: a folder of this machine for as long as the work takes.

    Raises:
        InputError: another word, or a package or scheduler that is not there.
    """
    kind, _, address = text.partition(":")
    if kind not in KINDS or (address and kind != "dask"):
        raise InputError("--executor", text, "is not known; give local, dask, dask:ADDRESS or mpi")
    if kind == "local":
        with closing(LocalWorkers(function) if jobs == 1 else Processes(function, jobs)) as workers:
            yield Team(workers, attrgetter("path"), scratch)
        return
    with _mpi(function) if kind == "mpi" else _dask(function, address, jobs) as found:
        yield found


def is_lost_worker(error: BaseException) -> bool:
    """Whether an item failed because its worker went away, or found no memory, of which others may leave it more.

    >>> is_lost_worker(BrokenExecutor()), is_lost_worker(MemoryError()), is_lost_worker(ValueError())
    (True, True, False)
    """
    lost = BrokenExecutor | CancelledError | TimeoutError | MemoryError
    return isinstance(error, lost) or type(error).__name__ in _LOST


class LocalWorkers:
    """Works on one item at a time, in this process; methods are those of :class:`memsim.montecarlo.pool.Processes`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._given: list[tuple[Any, tuple[Any, ...]]] = []

    def room(self) -> int:
        return 1 - len(self._given)

    def begin(self, key: Any, *item: Any) -> None:
        self._given.append((key, item))

    def answers(self) -> list[tuple[Any, Any, Exception | None]]:
        key, item = self._given.pop()
        return [_answer(key, lambda: self._function(*item))]

    def close(self) -> None:
        """Nothing is left to end."""


class FutureWorkers:
    """The workers of an executor; methods are those of :class:`memsim.montecarlo.pool.Processes`.

    Args:
        room: items that should be under way, as of now.
    """

    def __init__(self, executor: Executor, function: Callable[..., Any], room: Callable[[], int]) -> None:
        self._executor, self._function, self._room = executor, function, room
        self._under_way: dict[Future, Any] = {}

    def room(self) -> int:
        return self._room() - len(self._under_way)

    def begin(self, key: Any, *item: Any) -> None:
        self._under_way[self._executor.submit(self._function, *item)] = key

    def answers(self) -> list[tuple[Any, Any, Exception | None]]:
        done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        return [_answer(self._under_way.pop(future), future.result) for future in done]


Workers = LocalWorkers | Processes | FutureWorkers


def _answer(key: Any, find: Callable[[], Any]) -> tuple[Any, Any, Exception | None]:
    try:
        return key, find(), None
    except Exception as error:
        return key, None, error


@contextmanager
def _mpi(function: Callable[..., Any]) -> Iterator[Team]:
    """The processes that mpiexec started; traces lie on a file system that all of them see."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError):
        raise InputError("--executor", "mpi", "needs mpi4py and an MPI library; pip install mpi4py") from None
    folder = Path(tempfile.gettempdir(), f"memsim-study-{uuid.uuid4().hex[:12]}")
    workers = max(MPI.COMM_WORLD.Get_size() - 1, 1)
    with MPIPoolExecutor() as executor:
        try:
            yield Team(FutureWorkers(executor, function, lambda: _AHEAD * workers), attrgetter("path"), folder)
        finally:
            for _ in range(workers):
                executor.submit(rmtree, folder, ignore_errors=True)


@contextmanager
def _dask(function: Callable[..., Any], address: str, jobs: int) -> Iterator[Team]:
    """dask.distributed: its scheduler at the address, or a cluster of processes on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        problem = "needs dask.distributed; pip install 'memsim[distributed]'"
        raise InputError("--executor", "dask", problem) from None
    cluster = None
    if not address:
        cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    try:
        client = Client(cluster or address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError("--executor", f"dask:{address}", f"does not answer: {error}") from None
    folder = Path(tempfile.gettempdir(), f"memsim-study-{uuid.uuid4().hex[:12]}")

    def share(trace: Trace) -> Any:
        # A future in a task's arguments is its bytes when the task runs; dask moves them to a worker once. They are a
        # task's, not scattered, so that the scheduler makes them again when the worker that holds them is lost.
        return client.submit(bytes, trace.path.read_bytes(), pure=False)

    def room() -> int:
        return max(_AHEAD * sum(client.nthreads().values()), _AT_LEAST)

    try:
        # A key of its own for every task: the same trial asked for twice is a repetition after a failure.
        yield Team(FutureWorkers(client.get_executor(pure=False), function, room), share, folder)
    finally:
        client.run(rmtree, folder, ignore_errors=True, on_error="ignore")
        client.close()
        if cluster is not None:
            cluster.close()
