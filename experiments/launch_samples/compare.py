"""Default run and ``--sample`` next to ``--whole``: ``python -m experiments.launch_samples.compare [LAUNCH ...]``.

Writes ``compared.csv``, a row per launch and way; rows of launches that are not named stay.
"""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memsim
from experiments.gv100_launches.rows import ROWS
from experiments.modern_counters.kernels import DESCRIBED
from experiments.modern_counters.rows import CASES
from memsim.support.errors import InputError
from memsim.support.result_cache import VARIABLE
from memsim.support.scratch import Scratch

TABLE = Path(__file__).with_name("compared.csv")
MODERN = (
    "add 0", "add 11", "add 0 past L1", "copy", "transpose naive", "transpose shared", "transpose padded", "silu",
)  # fmt: skip
TRIALS = 1  # of either: they share their draws
RATIOS = ("l1_read", "l2_read", "l2_write")
WAYS = ("whole", "default", "sample")


@dataclass(frozen=True)
class Launch:
    """A launch of the list.

    Attributes:
        workload: a description, or the name of one in the library.
        settings: of the GPU.
    """

    workload: Any
    parameters: dict[str, Any]
    gpu: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What one way of simulating a launch answers.

    Attributes:
        blocks: that were replayed; 0: the way does not apply.
        cpu_seconds: of tracing and replay.
        ms: predicted time.
        low, high: the interval that is to hold the launch's time, ms; equal to `ms` where nothing is estimated.
        l1_read, l2_read, l2_write: hit ratios, 0 to 1.
    """

    launch: str
    way: str
    blocks: int = 0
    cpu_seconds: float = 0.0
    ms: float = 0.0
    low: float = 0.0
    high: float = 0.0
    l1_read: float = 0.0
    l2_read: float = 0.0
    l2_write: float = 0.0


def launches() -> dict[str, Launch]:
    """The twenty launches by name."""
    began = {"stochastic.start_alignment": False}
    found = {row.kernel: Launch(row.workload, dict(row.parameters), "quadro-gv100", began) for row in ROWS}
    for name in MODERN:
        case = CASES[name]
        found[name] = Launch(DESCRIBED[case.workload], case.parameters, case.gpu, case.settings | began)
    return found


def answer(name: str, launch: Launch, way: str) -> Answer:
    """Trace and replay a launch."""
    with Scratch() as folder:
        path = Path(folder) / "trace.h5"
        begin = time.process_time()
        blocks = None if way == "default" else "all"
        trace = memsim.trace(launch.workload, gpu=launch.gpu, blocks=blocks, out=path, **launch.parameters)
        try:
            result = memsim.simulate(
                trace, launch.gpu, trials=TRIALS, jobs=1, settings=launch.settings, convention="profiler",
                sample=way == "sample",
            )  # fmt: skip
        except InputError:
            return Answer(name, way)  # too few blocks to sample
        spent = time.process_time() - begin
        ms, interval = result.kernel_time.mean, result.kernel_time_interval
        low, high = (ms, ms) if interval is None else interval
        ratios = {one: float(f"{result.ratios[one].mean:.5g}") for one in RATIOS}
        replayed = result.trials.about["trace"]["blocks"]
        times = (float(f"{value:.6g}") for value in (ms, low, high))
        return Answer(name, way, replayed, round(spent, 2), *times, **ratios)


def _load_loops(launch: Launch) -> None:
    """Replay one block in either way, so that no answer includes the loading of compiled loops."""
    with Scratch() as folder:
        trace = memsim.trace(
            launch.workload, gpu=launch.gpu, blocks="0:1", out=Path(folder) / "one.h5", **launch.parameters
        )
        memsim.simulate(trace, launch.gpu, trials=1, jobs=1, settings=launch.settings)


def read() -> list[Answer]:
    """The rows of the table."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [
            Answer(row.pop("launch"), row.pop("way"), int(row.pop("blocks")), *map(float, row.values()))
            for row in csv.DictReader(file)
        ]


def write(rows: Sequence[Answer]) -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        columns = list(Answer.__dataclass_fields__)
        csv.writer(file, lineterminator="\n").writerows([columns, *(vars(one).values() for one in rows)])


def compared(rows: Sequence[Answer]) -> list[str]:
    """Lines of the table in the README."""
    whole = {one.launch: one for one in rows if one.way == "whole"}
    lines = []
    for one in rows:
        if one.way == "whole" or one.launch not in whole:
            continue
        full = whole[one.launch]
        if not one.blocks:
            lines.append(f"| {one.launch} | {one.way} | too few blocks | | | | |")
            continue
        both = [(getattr(one, ratio), getattr(full, ratio)) for ratio in RATIOS]
        off = max(abs(its - whole) for its, whole in both if whole == whole)  # a level that is bypassed has no ratio
        held = "yes" if one.low * (1 - 1e-6) <= full.ms <= one.high * (1 + 1e-6) else "no"
        lines.append(
            f"| {one.launch} | {one.way} | {100 * one.blocks / full.blocks:.3g} %"
            f" | {full.cpu_seconds / max(one.cpu_seconds, 0.01):.1f} | {100 * (one.ms / full.ms - 1):+.1f} %"
            f" | {100 * off:.1f} | {held} |"
        )
    return lines


def main(names: Sequence[str]) -> None:
    """Entry point."""
    os.environ[VARIABLE] = "0"  # no trial from memsim's cache
    known = launches()
    for name in names or known:
        if name not in known:
            raise SystemExit(f"{name!r}: is no launch of the list; give one of {', '.join(known)}")
        _load_loops(known[name])
        for way in WAYS:
            found = answer(name, known[name], way)
            print(found, flush=True)
            write([one for one in read() if (one.launch, one.way) != (name, way)] + [found])
    print(*compared(read()), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
