"""What trials of one trace share before they replay: its transactions, and where its lines lie on a GPU.

Each stage is made once for all GPUs that agree in the fields which the stage read while it ran (recorded, not listed:
:mod:`memsim.gpu.fields_read`). What it made lies in a folder that a machine's processes share, with the record next to
it; who needs it first makes it, under a lock, and the others map the same files.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from memsim.gpu.config import GPU
from memsim.gpu.fields_read import agrees, recording_reads
from memsim.hierarchy.execution import Execution, load_layout, save_layout
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.support.files import writing
from memsim.support.progress import phase
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

Given = Trace | Path | bytes  # a trace, its file where that can be opened here, or the file's bytes
_found: dict[tuple[Path, str], list[tuple[dict[str, str], Path]]] = {}  # by folder and stage: records, what was made


def prepared(execution: Execution, trace: Given) -> tuple[Execution, dict[str, float]]:
    """An execution whose files are there, made here unless they were; and the seconds that each stage took.

    Args:
        execution: its folder is the one that this machine's processes share, made when it is missing.

    Raises:
        InputError: a trace that does not fit the GPU, or a folder that cannot be written.
    """
    stage_folder, begin = _stage_folder(execution), perf_counter()

    def coalesced(folder: Path, gpu: GPU) -> None:
        folder.mkdir()
        readable = opened(execution, trace)
        total = readable.n_instructions
        with phase("coalescing", "rows", total) as advance:
            coalesce(readable, gpu, folder, lambda done: advance(done, total))

    transactions = made_once(stage_folder, "transactions", execution.gpu, coalesced)
    then = perf_counter()
    layout_folder = laid_out(transactions, execution.gpu)
    seconds = {"coalescing": then - begin, "laying out": perf_counter() - then}
    return replace(execution, folder=transactions, layout_folder=layout_folder), seconds


def laid_out(transactions: Path, gpu: GPU) -> Path:
    """The folder of the layout of a coalesced trace on a GPU.

    Raises:
        InputError: it cannot be written.
    """

    def put(folder: Path, gpu: GPU) -> None:
        folder.mkdir()
        with phase("laying out"), writing(folder):
            save_layout(folder, layout(Transactions.load(transactions), gpu))

    return made_once(transactions, "layout", gpu, put)


def opened(execution: Execution, trace: Given) -> Trace:
    """The trace, opened for reading on this machine; `execution` is not prepared yet."""
    return trace if isinstance(trace, Trace) else Trace.open(_file(_stage_folder(execution), trace, execution.gpu))


def _stage_folder(execution: Execution) -> Path:
    return execution.folder / execution.digest[:32]


def mapped(execution: Execution) -> tuple[Transactions, AddressLayout]:
    """The files of a prepared execution; the same values again while trials of it come one after the other."""
    assert execution.layout_folder is not None
    return _transactions(execution.folder), _layout(execution.layout_folder)


def fields_read(made: Path) -> list[str]:
    """The fields of a GPU that decided on what a stage made."""
    return list(json.loads(_record(made).read_text()))


def forget() -> None:
    """Let go of files that this process maps."""
    _found.clear()
    _transactions.cache_clear()
    _layout.cache_clear()


_transactions = lru_cache(maxsize=1)(Transactions.load)
_layout = lru_cache(maxsize=1)(load_layout)


def made_once(folder: Path, stage: str, gpu: GPU, make: Callable[[Path, GPU], None]) -> Path:
    """What a stage makes for a GPU, in a folder that processes share: made by the first that asks, while others wait.

    Args:
        make: puts it at the path it is given, whole when it returns, for the GPU it is given, whose reads are recorded.

    Raises:
        InputError: it cannot be written.
    """
    known = _found.setdefault((folder, stage), [])
    if (path := _agreeing(known, gpu)) is not None:
        return path
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f"{stage}.lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which the system drops when the process is killed
        records = sorted(folder.glob(f"{stage}-*.json"))
        known[:] = [(json.loads(one.read_text()), one.with_suffix("")) for one in records]
        if (path := _agreeing(known, gpu)) is not None:
            return path
        path, temporary = folder / f"{stage}-{uuid.uuid4().hex[:12]}", folder / f".{stage}.{os.getpid()}.part"
        read: dict[str, str] = {}
        try:
            make(temporary, recording_reads(gpu, read))
            with writing(folder):
                temporary.replace(path)
                temporary.write_text(json.dumps(read))
                temporary.replace(_record(path))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            with suppress(OSError):  # it was a folder, or is not there
                temporary.unlink()
        known.append((read, path))
    return path


def _record(made: Path) -> Path:
    return made.with_name(f"{made.name}.json")


def _agreeing(known: list[tuple[dict[str, str], Path]], gpu: GPU) -> Path | None:
    return next((path for read, path in known if agrees(gpu, read) and path.exists()), None)


def _file(stage_folder: Path, trace: Path | bytes, gpu: GPU) -> Path:
    """The trace's file on this machine, written by the first worker that needs it."""
    if isinstance(trace, Path):
        return trace

    def put(temporary: Path, unread: GPU) -> None:
        with writing(stage_folder):
            temporary.write_bytes(trace)

    return made_once(stage_folder, "trace", gpu, put)
