"""Seconds to an answer: what a user waits for, command by command, with all that a process does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import monotonic

import memsim
from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.support.result_cache import VARIABLE

GPU = "tesla-v100"
BEST_OF = 2


def answers(prepared: Prepared) -> list[Row]:
    """Processor seconds of commands on a small kernel, then of the same run again."""
    with TemporaryDirectory(prefix="memsim-bench-") as name:
        folder = Path(name)
        memsim.trace("saxpy", n=1 << 14, gpu=GPU, blocks="all", out=folder / "saxpy.h5")
        anew, best_of = {VARIABLE: "0"}, min(BEST_OF, prepared.size.runs)
        run = ["run", "saxpy.h5", "--trials", "3"]
        rows = [
            _row("small run", [*run, "-o", "r.h5", "-f"], folder, best_of, anew, 0.7, 0.5),
            _row("show", ["show", "r.h5"], folder, best_of, anew, 0.3, 0.2),
            _row("report, with cached replays", ["report", "r.h5", "-f"], folder, best_of, {}, 1.0, 0.6, warm=True),
            _row(
                "show --why, with cached replays", ["show", "r.h5", "--why"], folder, best_of, {}, None, None, warm=True
            ),
            _row("the same run again", run, folder, best_of, {}, None, None, warm=True),
        ]
    return rows


def _row(
    what: str, command: list[str], folder: Path, best_of: int, environment: dict[str, str], must: float | None,
    aim: float | None, *, warm: bool = False,
) -> Row:  # fmt: skip
    if warm and best_of > 1:  # a quick form only shows that it works
        _spent(command, folder, environment)
    spent = [_spent(command, folder, environment) for _ in range(best_of)]
    processor, wall = min(one[0] for one in spent), min(one[1] for one in spent)
    how = f"`memsim {' '.join(command)}`, processor seconds, best of {best_of} ({wall:.1f} s wall)"
    return Row(f"answer: {what}", processor, "s", must, aim, how, 1, less_is_better=True)


def _spent(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Processor and wall seconds of a command."""
    begin, before = monotonic(), getrusage(RUSAGE_CHILDREN)
    given = {name: value for name, value in os.environ.items() if name != VARIABLE} | environment
    subprocess.run([sys.executable, "-m", "memsim", *command], check=True, capture_output=True, cwd=folder, env=given)
    wall, after = monotonic() - begin, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall
