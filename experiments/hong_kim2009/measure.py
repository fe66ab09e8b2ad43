"""A kernel on a GPU by the model and by simulation, from the same trace: cycles per instruction, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.hong_kim2009 import kernels
from memsim.gpu.occupancy import resident_blocks
from memsim.gpu.presets import load_gpu
from memsim.models.estimate import Estimate, estimate

WARP = 32


@dataclass(frozen=True)
class Case:
    """A kernel, as a short and as a longer snapshot: what lies between them is free of start and end.

    Attributes:
        name: of the row.
        workload: of the library, or of :mod:`experiments.hong_kim2009.kernels`.
        block, registers, shared: of a block's threads, which decide how many an SM holds.
        parameters: of the workload.
        steps: of the kernel's loop, one wave of blocks each; None: a kernel without a loop, of so many waves.
        waves: of such a kernel.
    """

    name: str
    workload: str
    block: int
    registers: int
    shared: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[int, int] | None = None
    waves: tuple[int, int] = (2, 6)


@dataclass(frozen=True)
class Found:
    """What model and simulation say of a case on a GPU.

    Attributes:
        modelled: cycles of an SM over the warp instructions it executes, by MWP/CWP.
        simulated: the same by simulation, a trial each.
        said: the model's own view of the longer snapshot.
        departure: simulated cycles of an SM from one transaction to the next.
        cycles: simulated, from the short to the longer snapshot; mean of the trials.
    """

    case: Case
    gpu: str
    modelled: float
    simulated: tuple[float, ...]
    said: Estimate
    departure: float
    cycles: float

    @property
    def cpi(self) -> float:
        """Mean of the trials."""
        return float(np.mean(self.simulated))

    @property
    def error(self) -> float:
        """Model over simulation, less one."""
        return self.modelled / self.cpi - 1


@dataclass(frozen=True)
class _Job:
    case: Case
    gpu: str
    trials: int


def measure(cases: Sequence[Case], gpus: Sequence[str], trials: int, workers: int) -> list[Found]:
    """Every case on every GPU."""
    jobs = [_Job(case, gpu, trials) for case in cases for gpu in gpus]
    return mapped(_measured, jobs, workers, "kernels")


def _measured(job: _Job) -> Found:
    with TemporaryDirectory() as folder:
        short, long = (_Snapshot.of(job, which, Path(folder, f"{which}.h5")) for which in (0, 1))
        between = long.simulated - short.simulated
        instructions = long.instructions - short.instructions
        modelled = long.said.prediction.cpi
        if job.case.steps:  # the shorter launch is another one
            more = long.said.kernel.total_insts - short.said.kernel.total_insts
            before, after = (one.said.prediction.cpi * one.said.kernel.total_insts for one in (short, long))
            modelled = (after - before) / more
        sms = load_gpu(job.gpu).sm.count
        transactions = max(long.transactions - short.transactions, 1)
        return Found(
            job.case, job.gpu, modelled, tuple(between * sms / instructions), long.said,
            float(between.mean()) * sms / transactions, float(between.mean()),
        )  # fmt: skip


@dataclass(frozen=True)
class _Snapshot:
    """Cycles by trial, instructions and transactions of all traced warps, and the model's estimate of the launch."""

    simulated: np.ndarray
    instructions: int
    transactions: int
    said: Estimate

    @classmethod
    def of(cls, job: _Job, which: int, path: Path) -> _Snapshot:
        case, gpu = job.case, load_gpu(job.gpu)
        blocks = gpu.sm.count * resident_blocks(gpu, case.block, case.registers, case.shared)
        if not case.steps:
            blocks *= case.waves[which]
        parameters = dict(case.parameters) | ({"steps": case.steps[which]} if case.steps else {})
        if case.workload == "micro":
            parameters["grid"] = blocks
        source = getattr(kernels, case.workload, case.workload)
        trace = memsim.trace(source, out=path, gpu=gpu, blocks=f"0:{blocks}", **parameters)
        off = {"stochastic.start_alignment": False}
        result = memsim.simulate(trace, job.gpu, trials=job.trials, seed=1, jobs=1, settings=off)
        said = estimate(trace, gpu)
        counts = said.counts
        return cls(
            result.cycles.values, counts.comp_insts + counts.mem_insts,
            counts.coal_transactions + counts.uncoal_transactions, said,
        )  # fmt: skip
