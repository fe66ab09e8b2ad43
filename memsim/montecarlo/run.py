"""Many trials: prepare the trace once, replay it in parallel processes, stop when enough is known."""

from __future__ import annotations

import platform
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from memsim.gpu.carve_out import carved
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import resident_blocks
from memsim.hierarchy.mapping import layout
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import Job, run_trial, save_layout
from memsim.profile.ops import profile
from memsim.sources.snapshot import wave_blocks
from memsim.support.errors import InputError
from memsim.support.files import writing
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import Flag
from memsim.trace.transactions import Transactions

Finished = Generator[tuple[int, Trial], None, None]


def run(
    trace: Trace,
    gpu: GPU,
    *,
    trials: int = 64,
    seed: int = 0,
    jobs: int = 1,
    enough: Callable[[Trials], bool] | None = None,
    at_least: int = 20,
    warm: bool = False,
    progress: Callable[[Trials], None] | None = None,
    quantum: int | None = None,
    provenance: dict[str, Any] | None = None,
) -> Trials:
    """Replay `trace` on `gpu`, `trials` times.

    What a trial draws depends on `seed` and its number alone. With `enough`, the run ends after the first number of
    trials, `at_least` or more, for which it holds; it is asked about trials 0..n-1 in order, so the answer does not
    depend on which finished first. Ctrl-C ends the run with the trials that are finished, if there are any.

    Args:
        trials: how many; the most, with `enough`.
        jobs: worker processes; 1 replays in this process.
        enough: told the first n trials; True ends the run.
        warm: every trial starts from the caches that one uncounted replay leaves.
        progress: told each trial as it finishes (Trials of one).
        quantum: cycles between hand-overs; changes nothing but speed.
        provenance: field of the GPU -> where its value comes from, for the result to keep.

    Raises:
        InputError: a trace that does not fit the GPU, or arguments out of range.
    """
    _check(trials, seed, jobs, at_least)
    shape = trace.launch
    gpu = carved(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
    about = _about(trace, gpu, seed, warm) | {"gpu_provenance": provenance or {}}
    tables = [_op(op) for op in trace.ops], [asdict(array) | {"space": array.space.name} for array in trace.arrays]

    def collect(chosen: Mapping[int, Trial]) -> Trials:
        return Trials.of(chosen, about=about, ops=tables[0], arrays=tables[1])

    with TemporaryDirectory(prefix="memsim-") as folder:
        job = _prepare(trace, gpu, Path(folder), seed, warm, quantum)
        load_loops(gpu)
        finished = _in_process(job, trials) if jobs == 1 else _in_pool(job, trials, jobs)
        tell = (lambda number, trial: progress(collect({number: trial}))) if progress else None
        stop = (lambda first: enough(collect(first))) if enough else None
        rows = _until(finished, at_least, stop, tell)
        transactions = Transactions.load(folder)
        about["executed"] = _executed(trace, transactions)
        for op, found in zip(tables[0], profile(trace, transactions, gpu, job.resident), strict=True):
            op["profile"] = asdict(found)
    return collect(rows)


def _until(
    finished: Finished,
    at_least: int,
    enough: Callable[[dict[int, Trial]], bool] | None,
    tell: Callable[[int, Trial], None] | None,
) -> dict[int, Trial]:
    """Trials by number: all, or the first for which `enough` holds, or those that Ctrl-C leaves."""
    rows: dict[int, Trial] = {}
    asked = 0
    try:
        for number, trial in finished:
            rows[number] = trial
            if tell:
                tell(number, trial)
            while enough and asked in rows:
                asked += 1
                if asked >= at_least and enough(first := {k: rows[k] for k in range(asked)}):
                    return first
    except KeyboardInterrupt:
        if not rows:
            raise
    finally:
        finished.close()
    return rows


def _check(trials: int, seed: int, jobs: int, at_least: int) -> None:
    for name, value, least in (("trials", trials, 1), ("seed", seed, 0), ("jobs", jobs, 1), ("at_least", at_least, 1)):
        if value < least:
            raise InputError("run", name, f"is {value}; give {least} or more")


def _prepare(trace: Trace, gpu: GPU, folder: Path, seed: int, warm: bool, quantum: int | None) -> Job:
    """Coalesce the trace and lay it out, into files that workers map."""
    shape = trace.launch
    threads = int(np.prod(shape.block))
    resident = resident_blocks(gpu, threads, shape.registers, shape.shared_bytes)
    with writing(folder):
        transactions = coalesce(trace, gpu, folder)
        save_layout(folder, layout(transactions, gpu))
    return Job(folder, gpu, resident, seed, warm, quantum)


def _in_process(job: Job, trials: int) -> Finished:
    for trial in range(trials):
        yield run_trial(job, trial)


def _in_pool(job: Job, trials: int, jobs: int) -> Finished:
    """Trials as they finish."""
    with closing(in_processes(partial(run_trial, job), range(trials), jobs)) as found:
        for _, numbered in found:
            yield numbered


def _about(trace: Trace, gpu: GPU, seed: int, warm: bool) -> dict[str, Any]:
    """Everything a result must carry to be understood and made again."""
    packages = ("memsim", "numpy", "scipy", "simpy", "h5py", "numba")
    return {
        "gpu": gpu.model_dump(mode="json"),
        "seed": seed,
        "warm": warm,
        "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "trace": {
            "digest": trace.digest,
            "kernel": trace.kernel,
            "source": trace.source,
            "parameters": trace.parameters,
            "grid": list(trace.launch.grid),
            "block": list(trace.launch.block),
            "blocks": trace.n_blocks,
            "wave_blocks": wave_blocks(trace.launch, gpu),
        },
    }


def _executed(trace: Trace, transactions: Transactions) -> dict[str, int]:
    """What the closed-form models want to know beside the static ops."""
    rows = transactions.instructions
    return {
        "registers": trace.launch.registers,
        "shared_bytes": trace.launch.shared_bytes,
        "warps": trace.n_warps,
        "gap_instructions": int(rows["gap"].sum(dtype=np.int64)),
        "barriers": int(np.count_nonzero(rows["flags"] & Flag.barrier)),
    }


def _op(op: Any) -> dict[str, Any]:
    return asdict(op) | {"kind": op.kind.name, "space": op.space.name}
