"""Where a study's trials run: in this process, in local ones, on dask's workers, or under MPI.

All are a :class:`concurrent.futures.Executor`; what differs is how a trace gets to the workers' machines.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.support.errors import InputError
from memsim.trace.reader import Trace

KINDS = ("local", "dask", "mpi")
_AHEAD = 3  # tasks a worker, so that none waits for the next
_PATIENCE = 20  # seconds for the scheduler to answer
_AT_LEAST = 32  # tasks on a cluster, which may add workers when it sees work


@dataclass(frozen=True)
class Team:
    """Workers, and how to reach them.

    Attributes:
        executor: takes the tasks.
        room: tasks that should be under way, as of now.
        share: what tasks are given in the place of a trace: its file, or what becomes its bytes on the way.
        folder: of the transactions, on each worker's machine.
    """

    executor: Executor
    room: Callable[[], int]
    share: Callable[[Trace], Any]
    folder: Path


@contextmanager
def team(text: str, jobs: int, scratch: Path) -> Iterator[Team]:
    """The workers that a user asks for, ended with the block: at once, whatever they do, if it raises.

    Args:
        text: ``local``, ``dask``, ``dask:ADDRESS`` or ``mpi``.
        jobs: processes, of local and of dask's without an address.
        scratch: a folder of this machine for as long as the study runs.

    Raises:
        InputError: another word, or a package or scheduler that is not there.
    """
    kind, _, address = text.partition(":")
    if kind not in KINDS or (address and kind != "dask"):
        raise InputError("--executor", text, "is not known; give local, dask, dask:ADDRESS or mpi")
    opened = {"local": _local, "mpi": _mpi}
    made = _dask(address, jobs) if kind == "dask" else opened[kind](jobs, scratch)
    with made as found:
        yield found


class Here(Executor):
    """Runs every task when it is given, in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _where_it_lies(trace: Trace) -> Path:
    return trace.path


@contextmanager
def _local(jobs: int, scratch: Path) -> Iterator[Team]:
    from memsim.montecarlo.executor import Processes

    executor = Here() if jobs == 1 else Processes(jobs)
    room = 1 if jobs == 1 else _AHEAD * jobs
    try:
        yield Team(executor, lambda: room, _where_it_lies, scratch)
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _mpi(jobs: int, scratch: Path) -> Iterator[Team]:
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
            yield Team(executor, lambda: _AHEAD * workers, _where_it_lies, folder)
        finally:
            for _ in range(workers):
                executor.submit(_remove, folder)


@contextmanager
def _dask(address: str, jobs: int) -> Iterator[Team]:
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
        return client.submit(_given, trace.path.read_bytes(), pure=False)

    def room() -> int:
        return max(_AHEAD * sum(client.nthreads().values()), _AT_LEAST)

    try:
        # A key of its own for every task: the same trial asked for twice is a repetition after a failure.
        yield Team(client.get_executor(pure=False), room, share, folder)
    finally:
        client.run(_remove, folder, on_error="ignore")
        client.close()
        if cluster is not None:
            cluster.close()


def _given(content: bytes) -> bytes:
    return content


def _remove(folder: Path) -> int:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    return os.getpid()
