"""A study's own cost: what of its time is no replay, and what dask adds to a task."""

from __future__ import annotations

import os
from time import perf_counter

import memsim
from experiments.bench.table import Row
from experiments.bench.workload import Prepared

_TASKS = 400


def studies(prepared: Prepared) -> list[Row]:
    """The share of replay in a study of two L1s and DRAM timings; and empty tasks on dask, where it is installed."""
    points = [8 + point for point in range(prepared.size.trials)]
    study = memsim.Study(
        "bench",
        kernels={"spmv": {"trace": str(prepared.trace.path)}},
        gpus="tesla-c2050",
        vary={"l1.size_bytes": [16384, 49152], "dram.timing.cl": points},
        follow={"l1.ways": "l1.size_bytes // (l1.line_bytes * 32)"},
        trials=2,
    )
    found = study.run()
    seconds = found.about["seconds"]
    spent = ", ".join(f"{phase} {value:.2f} s" for phase, value in seconds.items())
    how = f"{len(study.points)} points x 2 trials in one process: {spent}"
    share = 100 * seconds["replaying"] / seconds["all"]
    trials = found.about["trials"]
    return [Row("share of replay in a study's time", share, "%", 90, 97, how, trials), *_dask()]


def _dask() -> list[Row]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        executor = client.get_executor(pure=False)
        [future.result() for future in [executor.submit(os.getpid) for _ in range(20)]]
        begin = perf_counter()
        [future.result() for future in [executor.submit(os.getpid) for _ in range(_TASKS)]]
        each = 1e3 * (perf_counter() - begin) / _TASKS
    how = f"{_TASKS} tasks that do nothing, two workers on this machine, wall"
    return [Row("dask's time per task", each, "ms", None, None, how, _TASKS)]
