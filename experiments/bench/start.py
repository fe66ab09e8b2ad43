"""From the start of a process to its first trial, the trace on disk and the loops compiled before.

Run as a module it is that process: ``python -m experiments.bench.start TRACE`` prints the moments at which its trials
were finished, by the clock that all processes share.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from time import monotonic

from experiments.bench.table import Row
from experiments.bench.workload import Prepared

TRIALS = 3


def start(prepared: Prepared) -> list[Row]:
    """The time to the end of the first trial, less what the quickest of the next ones takes."""
    times, processes = [], min(2, prepared.size.runs)
    for _ in range(processes):
        begin = monotonic()
        out = subprocess.run(
            [sys.executable, "-m", "experiments.bench.start", str(prepared.trace.path)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        finished = [float(moment) for moment in out.split()]
        times.append(finished[0] - begin - min(after - before for before, after in pairwise(finished)))
    how = (
        f"best of {processes} processes, wall: interpreter, imports, coalescing, compiled loops loaded; the end of the "
        "first trial less the quickest later one"
    )
    return [Row("start to first trial", min(times), "s", 3, 1.5, how, len(finished), less_is_better=True)]


def _child(path: str) -> None:
    import memsim

    memsim.simulate(path, "tesla-c2050", trials=TRIALS, seed=1, progress=lambda _: print(monotonic(), flush=True))


if __name__ == "__main__":
    _child(sys.argv[1])
