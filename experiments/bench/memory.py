"""Memory of a worker process: what is its own, and what it maps from the files that all workers share."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import memsim
from experiments.bench.presets import LARGEST
from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.system import System
from memsim.montecarlo import shared_stages
from memsim.montecarlo.worker import TrialJob, run_trial

MIB = 1 << 20
BESIDE_STATE = 100  # MiB that interpreter, libraries and compiled loops may take
SAMPLE_SECONDS = 0.05
SMAPS, ROLLUP = Path("/proc/self/smaps"), Path("/proc/self/smaps_rollup")


class Memory(NamedTuple):
    """Bytes: most anonymous memory of the process, and of the job's files what is mapped and what of it was copied."""

    anonymous: int
    mapped: int
    copied: int


def memory(prepared: Prepared) -> list[Row]:
    """A new process that imports memsim and replays one trial; so nothing is shared with a parent. Linux only."""
    if not ROLLUP.exists():
        return []
    seen = _alone(_worker, prepared.job)
    files = sum(file.stat().st_size for file in prepared.job.execution.folder.glob("*.npy"))
    return [
        Row(
            "own memory of a worker", seen.anonymous / MIB, "MiB", 200, None,
            f"most Anonymous of {ROLLUP} over a trial, each {SAMPLE_SECONDS * 1e3:.0f} ms: interpreter, libraries, "
            "compiled loops and state; the bound is for all but the state", 1, less_is_better=True,
        ),
        Row(
            "of the trace, copied by a worker", seen.copied / MIB, "MiB", 0, 0,
            f"anonymous pages in the mappings of the trace's files ({files / MIB:.1f} MiB, "
            f"{seen.mapped / MIB:.1f} MiB of them mapped and touched)", seen.mapped, less_is_better=True,
        ),
        _on_largest(prepared),
    ]  # fmt: skip


def _on_largest(prepared: Prepared) -> Row:
    """The same on the GPU of the most SMs, whose bound is its state and what the rest may take."""
    with TemporaryDirectory(prefix="memsim-bench-") as folder:
        execution, _ = shared_stages.prepared(
            Execution.of(prepared.trace, memsim.load_gpu(LARGEST), folder), prepared.trace
        )
        job = TrialJob(execution, seed=1)
        seen, state = _alone(_worker, job), _alone(_state, job)
    how = f"the same; bound: {state / MIB:.0f} MiB of state, as allocated, and {BESIDE_STATE} MiB for all else"
    measured, must = seen.anonymous / MIB, round(state / MIB) + BESIDE_STATE
    return Row(f"own memory of a worker on {LARGEST}", measured, "MiB", must, None, how, 1, less_is_better=True)


def _alone(function: Callable[[TrialJob], Any], job: TrialJob) -> Any:
    """What a function of this file returns in a new process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, (job,))


def _state(job: TrialJob) -> int:
    """Bytes of all arrays of a machine that has replayed the trace and may be written to."""
    on = job.execution
    system = System(on.transactions, on.gpu, on.resident, np.random.SeedSequence(job.seed), on.layout)
    system.run()
    arrays, left = {}, [system.machine.sms, system.machine.translation, system.machine.slices, system.machine.channels]
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left += part
        elif part is not None and part.flags.writeable:
            arrays[id(part)] = part.nbytes
    return sum(arrays.values())


def _worker(job: TrialJob) -> Memory:
    """Replay a trial while a thread looks at this process's memory."""
    seen, done = [_now(job.execution.folder)], threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_SECONDS):
            seen.append(_now(job.execution.folder))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        run_trial(job, 0)
    finally:
        done.set()
        sampler.join()
    return Memory(*map(max, zip(*seen, strict=True)))


def _now(directory: Path) -> Memory:
    # A mapping begins with a line "7f0000000000-7f0000001000 r--s ... /path"; its figures follow.
    mappings = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", SMAPS.read_text(), flags=re.MULTILINE)
    ours = "".join(mapping for mapping in mappings if str(directory) in mapping)
    return Memory(_sum(ROLLUP.read_text(), "Anonymous"), _sum(ours, "Rss"), _sum(ours, "Anonymous"))


def _sum(text: str, field: str) -> int:
    """Bytes of a field of smaps, over all mappings."""
    return 1024 * sum(int(kilobytes) for kilobytes in re.findall(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE))
