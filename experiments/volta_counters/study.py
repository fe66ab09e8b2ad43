"""Run the study: every described kernel against its counters, and the mean errors next to those of other models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from experiments.gv100_launches.programs import VARIABLE, downloads
from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Points, Setting
from experiments.volta_counters.figure import draw
from experiments.volta_counters.predict import Predicted, described, predict
from experiments.volta_counters.programs import WANTED, captured, is_there
from experiments.volta_counters.rows import ROWS, Measured, Row, measured
from memsim.support.progress import bar

SOURCE = "Accel-Sim, accelwattch_hw_profiler/hw_perf.csv"
COMMON_SET = "HyFiSS's comparison on GV100, mean over 35 applications"
OTHERS = {"PPT-GPU": (6.8, 23.6), "Accel-Sim": (12.5, 18.6), "HyFiSS": (6.6, 22.7)}  # points, L1 and L2
AIMS = {"L1 read": 1.0, "L2 read": 2.0}
PROGRAM_AIMS = {"L1 read": 1.0, "L2 read": 1.5, "DRAM reads": 3.0}  # points, and %
TIME_AIMS = {"mean": 12, "median": 10, "correlation": 0.99}
DESCRIBED_AIMS = {"DRAM reads": 4.0, "DRAM writes": 4.0, "cycles": 12.0}  # % of hardware's, of described kernels
WRITE_AIM = 10.0  # points, of all kernels' mean
ROW_AIMS = {"L1 read": 2.0, "L2 read": 2.0}  # points, of one kernel
LEVELS = {"L1 read": "l1_read", "L2 read": "l2_read"}
TRIALS = 3  # they differ by the order in which L2 takes the SMs' requests, which moves no ratio by 0.3 points
LEAST = 1000  # sectors or cycles: below, a relative error says nothing
Pair = tuple[Row, Measured, Predicted]


def run(setting: Setting) -> Outcome:
    """All rows, or those that take a second or two each."""
    hardware = measured()
    rows = [row for row in ROWS if row.quick or not setting.quick]
    pairs = []
    with bar("kernels") as advance:
        for done, row in enumerate(rows):
            advance(done, len(rows), row.kernel)
            ours = predict(described(row), 1 if setting.quick else TRIALS, setting.jobs)
            pairs.append((row, hardware[row.kernel], ours))
    draw(pairs, setting.figures / "counters.png")
    programs = of_programs(pairs, downloads(WANTED), setting)
    best = {pair[0].kernel: pair for pair in [*pairs, *programs]}  # captured where that can be, else described
    errors = {level: errors_in_points(pairs, ratio) for level, ratio in LEVELS.items()}
    writes = errors_in_points(pairs, "l1_write")
    return Outcome(
        [
            *summary(pairs, errors),
            write_claim(writes),
            *ratio_claims(pairs),
            *program_claims(programs, list(best.values())),
        ],
        {
            "errors": error_table(errors),
            "ratios": ratio_table(pairs),
            "traffic": traffic_table(pairs),
            "programs": program_table(pairs, programs),
        },
    )


def of_programs(pairs: list[Pair], downloaded: Path | None, setting: Setting) -> list[Pair]:
    """The rows whose programs the reader has, captured unchanged."""
    if downloaded is None:
        return []
    found = []
    with bar("programs") as advance:
        for done, (row, hardware, _) in enumerate(pairs):
            advance(done, len(pairs), row.kernel)
            if is_there(row.kernel, downloaded):
                ours = predict(captured(row.kernel, downloaded), TRIALS, setting.jobs)
                found.append((row, hardware, ours))
    return found


def program_claims(programs: list[Pair], best: list[Pair]) -> list[Claim]:
    """Mean errors of the programs that were captured, and of all kernels with them; none without them."""
    if not programs:
        return []
    sets = {
        f"{len(programs)} programs captured unchanged": programs,
        f"{len(best)} kernels, {len(programs)} captured and {len(best) - len(programs)} described": best,
    }
    return [claim for what, pairs in sets.items() for claim in [*cycle_claims(pairs, what), *other_claims(pairs, what)]]


def cycle_claims(pairs: list[Pair], what: str) -> list[Claim]:
    """How far cycles are off, and whether their order is right."""
    relative = 100 * np.abs(relative_errors(pairs, "cycles"))
    unit, correlation = "% of hardware's", log_correlation(pairs, "cycles")
    return [
        Claim(f"cycles, mean absolute relative error of {what}", math.nan, float(relative.mean()), unit=unit,
              source=SOURCE, aim=AtMost(TIME_AIMS["mean"])),
        Claim(f"cycles, median absolute relative error of {what}", math.nan, float(np.median(relative)), unit=unit,
              source=SOURCE, aim=AtMost(TIME_AIMS["median"])),
        Claim(f"cycles, correlation of logarithms of {what}", 1.0, correlation, source=SOURCE,
              aim=AtLeast(TIME_AIMS["correlation"])),
    ]  # fmt: skip


def other_claims(pairs: list[Pair], what: str) -> list[Claim]:
    """Hit ratios and sectors of DRAM."""
    sectors = 100 * float(np.abs(relative_errors(pairs, "dram_reads")).mean())
    return [
        *(
            Claim(f"{level} hit ratio, mean absolute error of {what}", math.nan, mean_error(errors), unit="%",
                  source=SOURCE, aim=AtMost(PROGRAM_AIMS[level]))
            for level, errors in ((level, errors_in_points(pairs, ratio)) for level, ratio in LEVELS.items())
        ),
        Claim(f"DRAM reads, mean absolute relative error of {what}", math.nan, sectors, unit="% of hardware's",
              source=SOURCE, aim=AtMost(PROGRAM_AIMS["DRAM reads"])),
    ]  # fmt: skip


def program_table(pairs: list[Pair], programs: list[Pair]) -> str:
    """Ratios and cycles of the programs, compared with those of the descriptions."""
    if not programs:
        return f"This run had no programs: {VARIABLE} names no folder that has them."
    as_described = {row.kernel: ours for row, _, ours in pairs}

    def cells(row: Row, hardware: Measured, ours: Predicted) -> list[str]:
        both = (as_described[row.kernel], ours)
        ratios = [
            "" if math.isnan(getattr(one, ratio).mean) else f"{100 * getattr(one, ratio).mean:.1f}"
            for ratio in ("l1_read", "l2_read")
            for one in both
        ]
        errors = [f"{100 * (one.cycles.mean / hardware.cycles - 1):+.1f}" for one in both]
        return [row.kernel, *ratios, significant(hardware.cycles), *errors]

    headers = ["kernel", *(f"{level} read %, {how}" for level in ("L1", "L2") for how in ("described", "captured")),
               "cycles, measured", "described, %", "captured, %"]  # fmt: skip
    return markdown(headers, [cells(*pair) for pair in programs])


def compared(row: Row, hardware: Measured, quantity: str) -> bool:
    """Whether hardware has the quantity, and counts what the description has."""
    return not math.isnan(getattr(hardware, quantity)) and not (row.texture and quantity == "l1_read")


def errors_in_points(pairs: list[Pair], ratio: str) -> dict[str, float]:
    """Kernel -> ours less hardware's, percentage points."""
    return {
        row.kernel: 100 * (getattr(ours, ratio).mean - getattr(hardware, ratio))
        for row, hardware, ours in pairs
        if compared(row, hardware, ratio)
    }


def mean_error(errors: Mapping[str, float]) -> float:
    return float(np.abs(list(errors.values())).mean())


def relative_errors(pairs: list[Pair], quantity: str) -> list[float]:
    """Ours over hardware's less 1, of the kernels where hardware counts enough."""
    return [
        getattr(ours, quantity).mean / getattr(hardware, quantity) - 1
        for _, hardware, ours in pairs
        if getattr(hardware, quantity) >= LEAST
    ]


def log_correlation(pairs: list[Pair], quantity: str) -> float:
    """Pearson's correlation of the logarithms."""
    both = [(getattr(hardware, quantity), getattr(ours, quantity).mean) for _, hardware, ours in pairs]
    return float(np.corrcoef(np.log(both).T)[0, 1])


def summary(pairs: list[Pair], errors: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    """Mean errors, compared with the best published."""
    best = dict(zip(errors, map(min, zip(*OTHERS.values(), strict=True)), strict=True))
    claims = [
        Claim(
            f"{level} hit ratio, mean absolute error of {len(of_level)} kernels; published: best of other models",
            best[level], mean_error(of_level), unit="%", source=COMMON_SET, aim=AtMost(AIMS[level]),
        )
        for level, of_level in errors.items()
    ]  # fmt: skip
    for name, quantity in (("DRAM reads", "dram_reads"), ("DRAM writes", "dram_writes"), ("cycles", "cycles")):
        relative = relative_errors(pairs, quantity)
        mean = 100 * float(np.abs(relative).mean())
        claims.append(Claim(f"{name}, mean absolute relative error of {len(relative)} kernels", math.nan, mean,
                            unit="% of hardware's", source=SOURCE, aim=AtMost(DESCRIBED_AIMS[name])))  # fmt: skip
    claims.append(Claim("cycles, correlation of logarithms", 1.0, log_correlation(pairs, "cycles"), source=SOURCE,
                        aim=AtLeast(TIME_AIMS["correlation"])))  # fmt: skip
    return claims


def write_claim(errors: Mapping[str, float]) -> Claim:
    """Of L1's stores, which hit where the line is present."""
    text = f"L1 write hit ratio, mean absolute error of {len(errors)} kernels"
    return Claim(text, math.nan, mean_error(errors), unit="%", source=SOURCE, aim=AtMost(WRITE_AIM))


def ratio_claims(pairs: list[Pair]) -> list[Claim]:
    """One claim a kernel and level."""
    return [
        Claim(f"{row.kernel}: {level} hit ratio", 100 * getattr(hardware, ratio), 100 * getattr(ours, ratio).mean,
              percent(getattr(ours, ratio).interval()), "%", SOURCE, aim=Points(ROW_AIMS[level]))
        for row, hardware, ours in pairs
        for level, ratio in LEVELS.items()
        if compared(row, hardware, ratio)
    ]  # fmt: skip


def percent(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return interval and (100 * interval[0], 100 * interval[1])


def error_table(errors: Mapping[str, Mapping[str, float]]) -> str:
    """Our errors, compared with those of the published models."""
    rows = [[name, *(f"{points:.1f}" for points in found)] for name, found in OTHERS.items()]
    ours = [f"{mean_error(of_level):.1f} ({len(of_level)} kernels)" for of_level in errors.values()]
    return markdown(["model", "L1, points", "L2, points"], [*rows, ["memsim", *ours]])


def ratio_table(pairs: list[Pair]) -> str:
    """Hit ratios of every kernel."""

    def cells(row: Row, hardware: Measured, ours: Predicted) -> list[str]:
        found = [row.kernel]
        for ratio in ("l1_read", "l2_read", "l1_write"):
            if compared(row, hardware, ratio):
                mine, interval = getattr(ours, ratio).mean, getattr(ours, ratio).interval()
                half = f" ± {50 * (interval[1] - interval[0]):.2f}" if interval else ""
                found += [f"{100 * getattr(hardware, ratio):.1f}", f"{100 * mine:.1f}{half}",
                          f"{100 * (mine - getattr(hardware, ratio)):+.1f}"]  # fmt: skip
            else:
                found += ["", "", ""]
        return found

    levels = ("L1 read", "L2 read", "L1 write")
    headers = [text for level in levels for text in (f"{level} %, measured", "memsim", "points")]
    return markdown(["kernel", *headers], [cells(*pair) for pair in pairs])


def traffic_table(pairs: list[Pair]) -> str:
    """DRAM sectors and cycles of every kernel."""
    quantities = ("dram_reads", "dram_writes", "cycles")

    def cells(row: Row, hardware: Measured, ours: Predicted) -> list[str]:
        found = [row.kernel]
        for quantity in quantities:
            theirs, mine = getattr(hardware, quantity), getattr(ours, quantity).mean
            error = f"{100 * (mine / theirs - 1):+.1f}" if theirs >= LEAST else ""
            found += [significant(theirs), significant(mine), error]
        return found

    headers = [
        text for name in ("DRAM reads", "DRAM writes", "cycles") for text in (f"{name}, measured", "memsim", "%")
    ]
    return markdown(["kernel", *headers], [cells(*pair) for pair in pairs])
