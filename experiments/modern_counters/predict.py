"""What memsim says of a launch, in the terms of the profiler."""

from __future__ import annotations

from pathlib import Path

import memsim
from experiments.modern_counters.kernels import DESCRIBED
from experiments.modern_counters.programs import captured
from experiments.modern_counters.rows import Case, Counters
from memsim.analysis.profiler import metrics


def predict(name: str, case: Case, downloaded: Path | None, trials: int, jobs: int) -> Counters:
    """Trace the launch, or its snapshot, and replay it from empty caches; means over trials.

    Args:
        downloaded: where the programs are; None: the launch is described.
    """
    if downloaded:
        trace = captured(name, downloaded)
    else:
        blocks = "all" if case.whole else None
        trace = memsim.trace(DESCRIBED[case.workload], gpu=case.gpu, blocks=blocks, **case.parameters)
    return counted(memsim.simulate(trace, case.gpu, trials=trials, jobs=jobs, settings=case.settings))


def counted(result: memsim.Result) -> Counters:
    """A result's figures under the profiler's names."""
    found = {name: metric.values.mean for name, metric in metrics(result).items()}
    return Counters(
        l1=found["l1tex__t_sector_hit_rate.pct"] / 100,
        l2_sectors=found["lts__t_sectors_srcunit_tex.sum"],
        dram_read=found["dram__bytes_read.sum"],
        dram_written=found["dram__bytes_write.sum"],
        microseconds=found["gpu__time_duration.sum"] / 1000,
    )
