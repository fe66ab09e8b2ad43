"""memsim's predictions for the same programs, compared with the counters."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.silicon.ncu import METRICS
from experiments.silicon.programs import PROGRAMS, Program
from memsim.analysis.table import aligned
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

SETTINGS = {"stochastic.start_alignment": False}  # a whole grid, from its launch on
HEADERS = ("program", "quantity", "measured", "memsim", "error")


def predict(program: Program, gpu: str, trials: int = 4, jobs: int = 1) -> dict[str, float]:
    """The counters of :data:`ncu.METRICS` as memsim has them.

    The kernel is captured whole, with the program's arguments, and replayed from empty caches.
    """
    with TemporaryDirectory(prefix="memsim-") as folder:
        captured = memsim.capture(
            program.file,
            arguments=program.arguments,
            kernel=program.kernel,
            gpu=gpu,
            blocks="all",
            to_end=True,  # of all launches the one with the most accesses
            out=Path(folder, "trace.h5"),
        )
        result = memsim.simulate(
            captured.trace, gpu, trials=trials, jobs=jobs, settings=SETTINGS, convention="profiler"
        )
    l1, l2, dram = (result.counters[level]["sectors"] for level in ("l1", "l2", "dram"))
    return {
        "l1_read_sectors": l1["reads"],
        "l1_read_hits": l1["reads"] * result.l1_read.mean,
        "l1_write_sectors": l1["writes"],
        "l2_read_sectors": l2["reads"],
        "l2_read_hits": l2["reads"] * result.l2_read.mean,
        "l2_write_sectors": l2["writes"],
        "dram_read_sectors": dram["reads"],
        "dram_write_sectors": dram["writes"],
        "cycles": result.cycles.mean,
        "nanoseconds": result.cycles.mean * result.ns_per_cycle,
    }


def compare(file: Path, gpu: str, trials: int, jobs: int) -> str:
    """A table of all programs in a counters.csv.

    Raises:
        InputError: no such file or GPU, a program that is unknown, a column that is missing.
    """
    load_gpu(gpu)
    known = {program.name: program for program in PROGRAMS}
    rows = []
    for measured in _read(file):
        program = known.get(measured["program"])
        if program is None:
            raise InputError(file, "program", f"is {measured['program']!r}; give one of {', '.join(known)}")
        ours = predict(program, gpu, trials, jobs)
        rows += [[program.name, *row] for row in quantities({name: float(measured[name]) for name in METRICS}, ours)]
    return aligned(HEADERS, rows, [False, False, True, True, True])


def _read(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(newline="", encoding="utf-8") as opened:
            rows = list(csv.DictReader(opened))
    except OSError as error:
        raise InputError(file, "file", f"cannot be read: {error.strerror}") from None
    for name in ("program", *METRICS):
        if not rows or name not in rows[0]:
            raise InputError(file, name, "is no column; give the counters.csv of python -m experiments.silicon measure")
    return rows


def quantities(measured: dict[str, float], ours: dict[str, float]) -> list[list[str]]:
    """Rows of the table for one program: hit ratios in points, everything else relative."""
    rows = []
    for level in ("l1", "l2"):
        there, here = (100 * ratio(one, level) for one in (measured, ours))
        rows.append([f"{level.upper()} read hits, %", f"{there:.1f}", f"{here:.1f}", f"{here - there:+.1f} pp"])
    for name in METRICS:
        if name.endswith("_hits") or name == "nanoseconds":
            continue
        there, here = measured[name], ours[name]
        error = f"{100 * (here / there - 1):+.1f} %" if there else ""
        rows.append([name.replace("_", " "), f"{there:,.0f}", f"{here:,.0f}", error])
    return rows


def ratio(counters: dict[str, float], level: str) -> float:
    """Read sectors found, of those looked up; 0 where none was."""
    sectors = counters[f"{level}_read_sectors"]
    return counters[f"{level}_read_hits"] / sectors if sectors else 0.0
