"""Run the study: every launch's hit ratios, sectors and cycles, compared with the hardware's."""

from __future__ import annotations

import math

import numpy as np

from experiments.gv100_launches.figure import PANELS, draw
from experiments.gv100_launches.predict import predict
from experiments.gv100_launches.programs import WANTED, downloads
from experiments.gv100_launches.rows import ROWS, Counters, measured
from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Points, Setting
from memsim.support.progress import bar

SOURCE = "Nsight Compute on a Quadro GV100, published with HyFiSS (MICRO 2024)"
TRIALS = 3
RATIOS = {"l1": "L1", "l1_load": "L1 loads", "l2": "L2"}
AIMS = {"l1": 1.0, "l1_load": 1.0, "l2": 1.5}  # percentage points
COUNTS = ("read_requests", "write_requests", "read_sectors", "write_sectors", "l2_reads", "dram_sectors", "cycles")
Pairs = dict[str, tuple[Counters, Counters]]  # by kernel: hardware's, ours


def run(setting: Setting) -> Outcome:
    """All launches, or those that take a second or two each; of the programs themselves where they are downloaded."""
    hardware, downloaded = measured(), downloads(WANTED)
    rows = [row for row in ROWS if row.quick or not setting.quick]
    pairs: Pairs = {}
    with bar("launches") as advance:
        for done, row in enumerate(rows):
            advance(done, len(rows), row.kernel)
            pairs[row.kernel] = hardware[row.kernel], predict(row, downloaded, TRIALS, setting.jobs)
    draw(pairs, setting.figures / "launches.png", PANELS)
    return Outcome(
        [*summary(pairs), *ratio_claims(pairs)], {"ratios": ratio_table(pairs), "counts": count_table(pairs)}
    )


def points(pairs: Pairs, ratio: str) -> dict[str, float]:
    """Kernel -> ours less hardware's, percentage points."""
    return {kernel: 100 * (getattr(ours, ratio) - getattr(theirs, ratio)) for kernel, (theirs, ours) in pairs.items()}


def relative(pairs: Pairs, count: str) -> np.ndarray:
    """Ours over hardware's less 1, %, a launch."""
    return np.array([100 * (getattr(ours, count) / getattr(theirs, count) - 1) for theirs, ours in pairs.values()])


def summary(pairs: Pairs) -> list[Claim]:
    """Mean errors over all launches."""
    n = len(pairs)
    claims = []
    for ratio, name in RATIOS.items():
        mean = float(np.abs(list(points(pairs, ratio).values())).mean())
        claims.append(Claim(f"{name} hit ratio, mean absolute error of {n} launches", math.nan, mean, unit="%",
                            source=SOURCE, aim=AtMost(AIMS[ratio])))  # fmt: skip
    for text, value, aim in (
        ("DRAM sectors, mean absolute relative error", np.abs(relative(pairs, "dram_sectors")).mean(), 3),
        ("cycles, mean absolute relative error", np.abs(relative(pairs, "cycles")).mean(), 12),
        ("cycles, median absolute relative error", np.median(np.abs(relative(pairs, "cycles"))), 10),
    ):
        claims.append(Claim(f"{text} of {n} launches", math.nan, float(value), unit="% of hardware's", source=SOURCE,
                            aim=AtMost(aim)))  # fmt: skip
    logs = np.log([(theirs.cycles, ours.cycles) for theirs, ours in pairs.values()])
    correlation = float(np.corrcoef(logs.T)[0, 1])
    claims.append(Claim("cycles, correlation of logarithms", 1.0, correlation, source=SOURCE, aim=AtLeast(0.99)))
    return claims


def ratio_claims(pairs: Pairs) -> list[Claim]:
    """One claim a launch and level."""
    return [
        Claim(f"{kernel}: {RATIOS[ratio]} hit ratio", 100 * getattr(theirs, ratio), 100 * getattr(ours, ratio),
              unit="%", source=SOURCE, aim=Points(AIMS[ratio]))
        for kernel, (theirs, ours) in pairs.items()
        for ratio in ("l1", "l2")
    ]  # fmt: skip


def ratio_table(pairs: Pairs) -> str:
    """Hit ratios of every launch."""
    headers = [text for name in RATIOS.values() for text in (f"{name} %, measured", "memsim", "points")]

    def cells(kernel: str, ratio: str) -> list[str]:
        theirs, ours = (100 * getattr(counters, ratio) for counters in pairs[kernel])
        return [f"{theirs:.1f}", f"{ours:.1f}", f"{ours - theirs:+.1f}"]

    rows = [[kernel, *(cell for ratio in RATIOS for cell in cells(kernel, ratio))] for kernel in pairs]
    return markdown(["launch", *headers], rows)


def count_table(pairs: Pairs) -> str:
    """Requests, sectors and cycles of every launch: measured, and ours less that in %."""

    def cells(kernel: str, count: str) -> list[str]:
        theirs, ours = (getattr(counters, count) for counters in pairs[kernel])
        return [significant(theirs), f"{100 * (ours / theirs - 1):+.1f}"]

    rows = [[kernel, *(cell for count in COUNTS for cell in cells(kernel, count))] for kernel in pairs]
    return markdown(["launch", *(text for count in COUNTS for text in (count.replace("_", " "), "%"))], rows)
