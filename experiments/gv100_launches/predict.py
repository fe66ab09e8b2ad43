"""What memsim says of a launch, in the terms of the profiler."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import memsim
from experiments.gv100_launches.programs import captured
from experiments.gv100_launches.rows import Counters, Row
from experiments.volta_counters.predict import GPU, SETTINGS
from memsim.analysis.profiler import metrics
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind


def predict(row: Row, downloaded: Path | None, trials: int, jobs: int) -> Counters:
    """Trace the whole launch and replay it from empty caches; means over trials.

    Args:
        downloaded: where the programs are; None: the launch is described.
    """
    if downloaded:
        trace = captured(row.kernel, downloaded)
    else:
        trace = memsim.trace(row.workload, gpu=GPU, blocks="all", **row.parameters)
    result = memsim.simulate(trace, GPU, trials=trials, jobs=jobs, settings=SETTINGS)
    sectors = result.trials.counters.sum(axis=1)[..., CountUnit.sectors].mean(axis=0)  # [level, event]
    instructions = coalesce(trace, load_gpu(GPU)).instructions
    kinds = instructions["kind"][instructions["count"] > 0]  # those that make transactions
    return Counters(
        **_ratios(sectors),
        read_requests=float(np.count_nonzero(kinds == OpKind.load)),
        write_requests=float(np.count_nonzero(kinds == OpKind.store)),
        read_sectors=_all(sectors[Level.l1], "read"),
        write_sectors=_all(sectors[Level.l1], "write"),
        l2_reads=_all(sectors[Level.l2], "read"),
        dram_sectors=_all(sectors[Level.dram], "read") + _all(sectors[Level.dram], "write"),
        cycles=metrics(result)["gpc__cycles_elapsed.max"].values.mean,
    )


def _ratios(sectors: np.ndarray) -> dict[str, float]:
    """Hit ratios as the profiler's: what is on its way hits; of stores in L1 a line that is there, in L2 all."""
    l1, l2 = sectors[Level.l1], sectors[Level.l2]
    loads_hit = l1[Event.read_hit] + l1[Event.read_merge]
    stores_hit = l1[Event.write_hit] + l1[Event.write_sector_miss]
    reads_hit, stores = l2[Event.read_hit] + l2[Event.read_merge], _all(l2, "write")
    return dict(
        l1=(loads_hit + stores_hit) / (_all(l1, "read") + _all(l1, "write")),
        l1_load=loads_hit / _all(l1, "read"),
        l2=(reads_hit + stores) / (_all(l2, "read") + stores),
    )


def _all(of_level: np.ndarray, access: str) -> float:
    """Sectors of one kind of access, whatever became of them."""
    return float(sum(of_level[event] for event in Event if event.name.startswith(f"{access}_")))
