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
from memsim.support.library import folder as library
from memsim.support.result_cache import VARIABLE

GPU = "tesla-v100"
BEST_OF = 2
SPMV, ROUNDS = library("traces") / "cuda" / "spmv.cu", Path(__file__).with_name("rounds.cu")
PRODUCT = Path(__file__).with_name("hgemm.cu")  # 1.6 billion transactions with matrices of 16,384 rows
_CAPTURE = ["--no-cache", "-q", "-f", "--"]
_SIDE, _SMALL = ("512", "5"), ("64", "2")  # of the matrices of rounds.cu, and its rounds
_LARGE, _LESS_LARGE = "16384", "256"  # rows of the matrices of hgemm.cu
_NOTHING_KEPT = {VARIABLE: "0"}  # what is timed is replayed
_NO_BYTECODE, _BYTECODE = "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"  # an installed package has its bytecode


def answers(prepared: Prepared) -> list[Row]:
    """Processor seconds of commands on a small kernel, and wall seconds of capture and replay of programs."""
    size = prepared.size
    with TemporaryDirectory(prefix="memsim-bench-") as name:
        folder = Path(name)
        memsim.trace("saxpy", n=1 << 14, gpu=GPU, blocks="all", out=folder / "saxpy.h5")
        anew, best_of = _NOTHING_KEPT, min(BEST_OF, size.runs)
        rounds = _SIDE if size.runs > 1 else _SMALL
        run = ["run", "saxpy.h5", "--trials", "3"]
        rows = [
            _row("small run", [*run, "-o", "r.h5", "-f"], folder, best_of, anew, 0.7, 0.5),
            _row("show", ["show", "r.h5"], folder, best_of, anew, 0.3, 0.2),
            _row("report, with cached replays", ["report", "r.h5", "-f"], folder, best_of, {}, 1.0, 0.6, warm=True),
            _row(
                "show --why, with cached replays", ["show", "r.h5", "--why"], folder, best_of, {}, None, None, warm=True
            ),
            _row("the same run again", run, folder, best_of, {}, None, None, warm=True),
            _steps(
                "spmv.cu, capture and run",
                ["capture", str(SPMV), "-o", "spmv.h5", *_CAPTURE, str(size.rows), str(size.nnz_per_row)],
                ["run", "spmv.h5", "--gpu", GPU], folder, best_of, 8, 4,
            ),
            _steps(
                "15 launches, capture and run",
                ["capture", str(ROUNDS), "-o", "rounds", "--launch", "all", *_CAPTURE, *rounds],
                ["run", "rounds", "--warm"], folder, best_of, 15, 6,
            ),
            _steps(
                "hgemm.cu, capture and run",
                ["capture", str(PRODUCT), "-o", "hgemm.h5", "--gpu", "a100", *_CAPTURE,
                 _LARGE if size.runs > 1 else _LESS_LARGE],
                ["run", "hgemm.h5"], folder, 1, 120, 60,
            ),
        ]  # fmt: skip
    return rows


def _steps(what: str, capture: list[str], run: list[str], folder: Path, best_of: int, must: float, aim: float) -> Row:
    """Wall seconds of a capture and a run of its trace, neither of which takes anything from a cache but code."""
    if best_of > 1:
        _spent(capture, folder, _NOTHING_KEPT)
        _spent([*run, "--trials", "1"], folder, _NOTHING_KEPT)
    both = [[_spent(command, folder, _NOTHING_KEPT) for command in (capture, run)] for _ in range(best_of)]
    (cpu_of_capture, wall_of_capture), (cpu_of_run, wall_of_run) = min(both, key=lambda one: one[0][1] + one[1][1])
    how = (
        f"`memsim {capture[0]}` ({wall_of_capture:.1f} s, CPU {cpu_of_capture:.1f}), then `memsim {' '.join(run)}` "
        f"({wall_of_run:.1f} s, CPU {cpu_of_run:.1f}), wall, best of {best_of}"
    )
    return Row(f"answer: {what}", wall_of_capture + wall_of_run, "s", must, aim, how, 1, less_is_better=True)


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
    given = {name: value for name, value in os.environ.items() if name not in (VARIABLE, _NO_BYTECODE)}
    given |= {_BYTECODE: str(folder / "bytecode")} | environment
    subprocess.run([sys.executable, "-m", "memsim", *command], check=True, capture_output=True, cwd=folder, env=given)
    wall, after = monotonic() - begin, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall
