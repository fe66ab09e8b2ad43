"""Replaying: transactions per second on one core, and SimPy's share of the time."""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time

from experiments.bench.table import Row
from experiments.bench.workload import FULL, Prepared
from memsim.montecarlo.worker import run_trial

PAPER_SECONDS = 3.16 * 60  # one such trial on a Core i7 of 2.8 GHz, Baghsorkhi 2012, section 5.3


def replay(prepared: Prepared) -> list[Row]:
    """Whole trials in this process, the first of which (it loads the compiled loops) does not count."""
    walls, cores, shares, transactions = [], [], [], 0
    for trial in range(1 + prepared.size.trials):
        wall, core = perf_counter(), process_time()
        row = run_trial(prepared.job, trial)
        walls.append(perf_counter() - wall)
        cores.append(process_time() - core)
        shares.append(100 * (1 - row.compiled_seconds / row.wall_seconds))
        transactions += row.transactions
    walls, cores, shares = walls[1:], cores[1:], shares[1:]
    each = transactions / (1 + prepared.size.trials)
    best, middle = min(walls), median(walls)
    how = (
        f"best of {len(walls)} whole trials of {each / 1e6:.2f} M, wall: caches, DRAM, SimPy, building the machine and "
        f"the main-memory step; median {each / 1e6 / middle:.2f}; by process time {each / 1e6 / min(cores):.2f}"
    )
    rows = [Row("transactions replayed per second and core", each / best / 1e6, "M/s", 4, 10, how, transactions)]
    if prepared.size == FULL:  # the paper's matrix
        how = f"{PAPER_SECONDS:.0f} s, published in 2012, over the median of memsim, {middle:.2f} s"
        rows += [
            Row("the paper's time for such a trial over memsim's", PAPER_SECONDS / middle, "x", None, None, how, 1)
        ]
    return [
        *rows,
        Row(
            "SimPy's share of a trial", median(shares), "%", 25, 10,
            "1 - time inside compiled loops / time of the replay, wall, median; Python around the loops included",
            len(walls), less_is_better=True,
        ),
    ]  # fmt: skip
