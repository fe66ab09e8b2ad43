"""What a worker does for a study, on whatever machine: keep a trace, coalesce it, replay one trial.

A machine's workers share a folder. A trace and its transactions are put there once, by whoever needs them first, under
a lock; the others map the same files.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.worker import replayed
from memsim.support.files import writing
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

# What coalescing asks of a GPU (trace.coalesce, trace.coalescing_rules), and what a layout does (hierarchy.mapping).
_COALESCING = (
    "compute_capability", "sm.warp_size", "l1.line_bytes", "l1.sector_bytes", "l1.enabled", "l1.serves",
    "l1.tags_per_cycle", "l1.banks", "l1.bytes_per_cycle", "l1.texture_bytes",
    "l1.merges_stores",
    "sm.constant_cycles", "sm.divergence",
)  # fmt: skip
_LAYOUT = (
    "l1.line_bytes", "l1.size_bytes", "l1.ways", "l1.set_hash", "l1.sets",
    "l2.line_bytes", "l2.size_bytes", "l2.ways", "l2.set_hash",
    "l2.slices", "l2.slice_interleave_bytes", "l2.slice_hash",
    "dram.interleave_bytes", "dram.channels", "dram.channel_hash", "dram.row_bytes", "dram.banks", "dram.bank_hash",
    "translation.enabled", "translation.page_bytes", "translation.walk_levels",
)  # fmt: skip


@dataclass(frozen=True)
class NodeTask:
    """What all trials of one trace on one GPU have in common.

    Attributes:
        digest: of the trace.
        execution: on the GPU; its folder is that of this machine's workers, made when it is missing.
        seed, warm: see montecarlo.run.
    """

    digest: str
    execution: Execution
    seed: int
    warm: bool


@dataclass(frozen=True)
class Answer:
    """A finished trial, and the seconds its worker spent on it by phase."""

    trial: Trial
    seconds: dict[str, float]


def replay(task: NodeTask, number: int, trace: Path | bytes) -> Answer:
    """One trial; what it draws depends on the seed and `number` alone, so the same number draws the same anywhere.

    Args:
        trace: its file, where that can be opened here, or its bytes.
    """
    clocks = [perf_counter()]
    transactions = _transactions(task, trace)
    clocks.append(perf_counter())
    where = _layout(task, transactions)
    clocks.append(perf_counter())
    draws = np.random.SeedSequence(task.seed, spawn_key=(number,))
    trial = replayed(transactions, task.execution, where, draws, task.warm)
    clocks.append(perf_counter())
    phases = zip(("coalescing", "laying out", "replaying"), np.diff(clocks).tolist(), strict=True)
    return Answer(trial, dict(phases))


def coalescing_key(digest: str, gpu: GPU) -> str:
    """Names the transactions of a trace on all GPUs that coalesce alike."""
    return f"{digest[:32]}-{_hash(gpu, _COALESCING)}"


def layout_key(gpu: GPU) -> str:
    """Names the layouts of a trace on all GPUs that lay it out alike."""
    return _hash(gpu, _LAYOUT)


def _hash(gpu: GPU, names: tuple[str, ...]) -> str:
    values = []
    for name in names:
        value: Any = gpu
        for part in name.split("."):
            value = getattr(value, part)
        values.append(str(value))
    return hashlib.sha256("|".join(values).encode()).hexdigest()[:12]


_kept: dict[tuple[Path, str], Transactions] = {}
_layouts: dict[tuple[Path, str, str], AddressLayout] = {}


def _transactions(task: NodeTask, trace: Path | bytes) -> Transactions:
    """The trace's transactions, mapped; coalesced by the first worker of this machine that needs them."""

    def make(temporary: Path) -> None:
        temporary.mkdir()
        path = trace if isinstance(trace, Path) else _file(task, trace)
        coalesce(Trace.open(path), task.execution.gpu, temporary)

    key = task.execution.folder, coalescing_key(task.digest, task.execution.gpu)
    if key not in _kept:
        _kept.clear()  # points that share a trace come one after the other
        _kept[key] = Transactions.load(once(*key, make))
    return _kept[key]


def _file(task: NodeTask, content: bytes) -> Path:
    """The trace's file on this machine, written by the first worker that needs it."""

    def put(temporary: Path) -> None:
        with writing(task.execution.folder):
            temporary.write_bytes(content)

    return once(task.execution.folder, f"{task.digest[:32]}.h5", put)


def _layout(task: NodeTask, transactions: Transactions) -> AddressLayout:
    key = (
        task.execution.folder,
        coalescing_key(task.digest, task.execution.gpu),
        layout_key(task.execution.gpu),
    )
    if key not in _layouts:
        _layouts.clear()
        _layouts[key] = layout(transactions, task.execution.gpu)
    return _layouts[key]


def once(folder: Path, name: str, make: Callable[[Path], None]) -> Path:
    """What is called `name` in a folder that processes share: made by the first that asks, while the others wait.

    Args:
        make: puts it at the temporary path it is given, whole when it returns.

    Raises:
        InputError: it cannot be written.
    """
    path = folder / name
    if path.exists():
        return path
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f"{name}.lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which the system drops when the process is killed
        if not path.exists():
            temporary = folder / f".{name}.{os.getpid()}.part"
            try:
                make(temporary)
                os.replace(temporary, path)
            finally:
                _remove(temporary)
    return path


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
