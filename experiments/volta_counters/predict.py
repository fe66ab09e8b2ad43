"""What memsim says of a kernel, in the terms of the profiler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import memsim
from experiments.volta_counters.rows import Row
from memsim.analysis.conventions import AccessKind, Convention, hit_ratio
from memsim.analysis.profiler import metrics
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.hierarchy.counters import CountUnit, Event, Level

GPU = "quadro-gv100"
# The whole grid is traced, and the kernel is measured from its launch on: blocks begin at their beginning, not at the
# random phase of a snapshot out of the middle.
SETTINGS = {"stochastic.start_alignment": False}


@dataclass(frozen=True)
class Predicted:
    """Of each trial; as :class:`experiments.volta_counters.rows.Measured`."""

    l1_read: Sample
    l2_read: Sample
    l1_write: Sample
    dram_reads: Sample
    dram_writes: Sample
    cycles: Sample


def described(row: Row) -> memsim.Trace:
    """Trace the whole launch as the library describes it."""
    return memsim.trace(row.workload, gpu=GPU, blocks="all", **row.parameters)


def predict(trace: memsim.Trace, trials: int, jobs: int) -> Predicted:
    """Replay a whole launch from empty caches."""
    result = memsim.simulate(trace, GPU, trials=trials, jobs=jobs, settings=SETTINGS, convention="profiler")
    return Predicted(
        l1_read=result.l1_read,
        l2_read=l2_read(result),
        l1_write=l1_write(result),
        dram_reads=dram_sectors(result, "read"),
        dram_writes=dram_sectors(result, "write"),
        cycles=metrics(result)["gpc__cycles_elapsed.max"].values,
    )


def l1_write(result: RunResult) -> Sample:
    """L1 hit ratio of stores, a trial."""
    counters = result.trials.counters.sum(axis=1)
    return Sample(hit_ratio(counters, Level.l1, (AccessKind.write,), Convention.profiler, "7.0"))


def l2_read(result: RunResult) -> Sample:
    """L2 hit ratio of the L1s' reads as ``lts__t_sectors_srcunit_tex_op_read_lookup`` has it, a trial.

    Every sector that a fetch brings is a lookup that misses, also the one that no L1 asked for (``l2.fetch_bytes``).
    """
    lookups = result.trials.counters[:, :, Level.l2, :, CountUnit.sectors].sum(axis=1).astype(float)
    hits = lookups[:, [Event.read_hit, Event.read_merge]].sum(axis=1)
    fetched = dram_sectors(result, "read").values
    looked_up = hits + fetched
    return Sample(np.divide(hits, looked_up, out=np.full_like(hits, np.nan), where=looked_up > 0))


def dram_sectors(result: RunResult, access: str) -> Sample:
    """32-byte sectors that DRAM read or wrote, a trial."""
    events = [Event[f"{access}_{outcome}"] for outcome in ("hit", "miss")]
    return Sample(result.trials.counters[:, :, Level.dram, events, CountUnit.sectors].sum(axis=(1, 2)).astype(float))
