"""A first use of memsim on a machine: `memsim run` when none of its loops has been compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import monotonic

from experiments.bench.table import Row
from experiments.bench.workload import Prepared

GPU = "h100"  # whose loops take longest


def first_use(prepared: Prepared) -> list[Row]:
    """What the same command takes without compiled loops on disk, less what it takes with them."""
    with TemporaryDirectory(prefix="memsim-bench-") as empty:
        first, again = (_run(str(prepared.trace.path), empty) for _ in range(2))
    how = (
        f"`memsim run --trials 1 --gpu {GPU}` with nothing on disk ({first[0]:.1f} s, CPU {first[1]:.1f}), less the "
        f"same again ({again[0]:.1f} s), wall; by two processes where there are two cores"
    )
    return [Row("first use: compilation of the loops", first[0] - again[0], "s", 15, 5, how, 2, less_is_better=True)]


def _run(trace: str, cache: str) -> tuple[float, float]:
    """(Wall seconds, process seconds) of a run whose loops are kept in a folder."""
    command = [sys.executable, "-m", "memsim", "run", trace, "--gpu", GPU, "--trials", "1", "-o", f"{cache}/result.h5"]
    begin, before = monotonic(), getrusage(RUSAGE_CHILDREN)
    subprocess.run([*command, "--force"], check=True, capture_output=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
    wall, after = monotonic() - begin, getrusage(RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
