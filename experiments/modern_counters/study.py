"""Run the study: every launch's hit ratio, sectors, bytes and time, compared with the hardware's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from experiments.gv100_launches.figure import draw
from experiments.gv100_launches.programs import downloads
from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting, Within
from experiments.modern_counters.predict import predict
from experiments.modern_counters.rows import CASES, Counters, measured
from memsim.support.progress import bar

SOURCE = "Nsight Compute on an A100 and an RTX 4090, in the programs' repositories"
TRIALS = 2
QUICK = ("copy", "transpose shared")
QUICK_SIDE = 512  # of the matrix in a quick run
AIMS = {"l2_sectors": ("L2 sectors", 2), "dram": ("DRAM bytes", 4), "microseconds": ("time", 12)}
COUNTS = {
    "l2_sectors": "L2 sectors",
    "dram_read": "DRAM bytes read",
    "dram_written": "DRAM bytes written",
    "microseconds": "time, µs",
}
PANELS = (
    ("L1 hit ratio", "l1"),
    ("L2 sectors", "l2_sectors"),
    ("DRAM bytes", "dram"),
    ("time, µs", "microseconds"),
)


def run(setting: Setting) -> Outcome:
    """All cases, of the programs themselves where they are downloaded; quick: small forms of two."""
    hardware, downloaded = measured(), downloads("the repositories of its README.md")
    names = QUICK if setting.quick else tuple(CASES)
    ours = {}
    with bar("launches") as advance:
        for done, name in enumerate(names):
            advance(done, len(names), name)
            case = CASES[name]
            if setting.quick:
                case = replace(case, parameters=case.parameters | {"n": QUICK_SIDE})
            ours[name] = predict(name, case, downloaded, 1 if setting.quick else TRIALS, setting.jobs)
    pairs = {f"{name} {n}": (one, ours[name]) for name in names for n, one in enumerate(hardware[name])}
    draw(pairs, setting.figures / "launches.png", PANELS)
    return Outcome([*summary(pairs), *times(hardware, ours)], {"launches": table(hardware, ours)})


def summary(pairs: Mapping[str, tuple[Counters, Counters]]) -> list[Claim]:
    """Mean errors over all launches."""
    points = [100 * abs(ours.l1 - theirs.l1) for theirs, ours in pairs.values()]
    claims = [Claim(f"L1 hit ratio, mean absolute error of {len(pairs)} launches", math.nan, float(np.mean(points)),
                    unit="%", source=SOURCE, aim=AtMost(1))]  # fmt: skip
    for count, (text, aim) in AIMS.items():
        errors = [100 * abs(getattr(ours, count) / getattr(theirs, count) - 1) for theirs, ours in pairs.values()]
        what = f"{text}, mean absolute relative error of {len(pairs)} launches"
        error = float(np.mean(errors))
        claims.append(Claim(what, math.nan, error, unit="% of hardware's", source=SOURCE, aim=AtMost(aim)))
    logs = np.log([(theirs.microseconds, ours.microseconds) for theirs, ours in pairs.values()])
    correlation = float(np.corrcoef(logs.T)[0, 1])
    return [*claims, Claim("time, correlation of logarithms", 1.0, correlation, source=SOURCE, aim=AtLeast(0.99))]


def times(hardware: Mapping[str, list[Counters]], ours: Mapping[str, Counters]) -> list[Claim]:
    """One claim a case: the time, measured in the mean of its launches."""
    return [
        Claim(f"{name}: time", _mean(hardware[name], "microseconds"), one.microseconds, unit="µs", source=SOURCE,
              aim=Within(0.2))
        for name, one in ours.items()
    ]  # fmt: skip


def _mean(launches: list[Counters], count: str) -> float:
    return float(np.mean([getattr(one, count) for one in launches]))


def table(hardware: Mapping[str, list[Counters]], ours: Mapping[str, Counters]) -> str:
    """Of every case what was measured, in the mean of its launches, and ours: in points, or less that in %."""

    def cells(name: str, count: str) -> list[str]:
        theirs = _mean(hardware[name], count)
        return [significant(theirs), f"{100 * (getattr(ours[name], count) / theirs - 1):+.1f}"]

    rows = [
        [name, CASES[name].gpu, f"{100 * _mean(hardware[name], 'l1'):.1f}", f"{100 * one.l1:.1f}",
         *(cell for count in COUNTS for cell in cells(name, count))]
        for name, one in ours.items()
    ]  # fmt: skip
    headers = [cell for text in COUNTS.values() for cell in (text, "%")]
    return markdown(["launch", "GPU", "L1 %, measured", "memsim", *headers], rows)
