"""Profiles each program of the list, and compares with a simulation of all its launches.

    python -m experiments.whole_programs CHECKOUTS --python VENV [--only TEXT] [--limit SECONDS] [--no-full]
    python -m experiments.whole_programs CHECKOUTS --list short_programs.csv --out short_scoreboard.csv

For the comparison, every launch is executed, traced and simulated, after the launches before it. VENV is a virtual
environment with Triton and the CPU build of torch, which the tutorials run in.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from experiments.capture.programs import PublicProgram, listed
from experiments.capture.trying import cpu_seconds
from experiments.whole_programs.choosing import HERE, LIST
from memsim.analysis.program import ProgramResult
from memsim.analysis.speed_of_light import speed_of_light
from memsim.api import simulate_program
from memsim.cli.run_folder import folder_traces
from memsim.sources.launch_list import all_launches

SCOREBOARD = HERE / "scoreboard.csv"
MOST_LAUNCHES = 50  # of programs of which every launch is simulated, for comparison
_FULL_TRIALS = 2


@dataclass(frozen=True)
class Profiled:
    """What came of one program.

    Attributes:
        program: repository and file.
        seconds: wall clock of `memsim profile` without kept trials.
        cpu_seconds: processor time of it and its children.
        launches: of the program.
        kernels: groups of launches that are alike.
        ms: predicted time of all launches.
        half_width: half the 95 % interval of that, percent.
        full_ms: the same where every launch is simulated; "" of programs with more than MOST_LAUNCHES launches.
        error: of the sampled time against that, percent.
        best_share: the best possible time over the predicted one, percent, the largest of all kernels.
        finding: top finding of the slowest kernel.
        message: memsim's last line, if it printed no table.
    """

    program: str
    seconds: str = ""
    cpu_seconds: str = ""
    launches: str = ""
    kernels: str = ""
    ms: str = ""
    half_width: str = ""
    full_ms: str = ""
    error: str = ""
    best_share: str = ""
    finding: str = ""
    message: str = ""


def command(one: PublicProgram, checkouts: Path, *words: str) -> list[str]:
    """What a user would type, in the program's folder."""
    files, arguments = one.files(checkouts), shlex.split(one.arguments)
    program = [*files, "--", *arguments] if arguments else files
    return [sys.executable, "-m", "memsim", *words, *one.include_options(checkouts), *program]


def profiled(one: PublicProgram, checkouts: Path, python: Path | None, limit: float, full: bool) -> Profiled:
    """Profile one program."""
    name = f"{one.repository}/{one.main}"
    environment = os.environ | {"MEMSIM_CACHE_MB": "0", "MPLBACKEND": "Agg", "PYTHONPATH": str(HERE.parents[1])}
    if python is not None:
        environment["MEMSIM_PYTHON"] = str(python / "bin" / "python")
    with tempfile.TemporaryDirectory() as scratch:
        folder, place = Path(scratch), one.folder(checkouts)
        words = command(one, checkouts, "profile", "-o", str(folder / "p.h5"))
        begin, used = time.monotonic(), cpu_seconds()
        try:
            done = subprocess.run(
                words, cwd=place, env=environment, capture_output=True, text=True, errors="replace", timeout=limit
            )
        except subprocess.TimeoutExpired as late:
            last = (late.stderr or b"").decode(errors="replace").strip().splitlines()[-1:]
            return Profiled(name, f"{limit:.0f}", f"{cpu_seconds() - used:.1f}", message=f"time: {''.join(last)}")
        seconds = f"{time.monotonic() - begin:.1f}", f"{cpu_seconds() - used:.1f}"
        if done.returncode:
            return Profiled(name, *seconds, message=(done.stderr.strip().splitlines() or [""])[-1][:300])
        print(done.stdout)
        row, found = _row(name, seconds, ProgramResult.load(folder / "p.h5"))
        if full and int(row.launches) <= MOST_LAUNCHES:
            words = command(one, checkouts, "capture", "-o", str(folder / "every"), "--launch", "all")
            subprocess.run(words, cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)
            row = _compared(row, found, folder / "every")
        return row


def _row(name: str, seconds: tuple[str, str], found: ProgramResult) -> tuple[Profiled, ProgramResult]:
    interval = found.time.interval()
    launches = sum(group.launches for group in found.groups)
    share = max(group.best_possible / group.time.mean for group in found.groups)
    top = [one for one in found.about["findings"] if one["kernel"] == found.labels()[0]]
    row = Profiled(
        name, *seconds, str(launches), str(len(found.groups)), f"{found.time.mean:.6g}",
        "" if interval is None else f"{50 * interval.width / found.time.mean:.2f}", "", "",
        f"{100 * share:.0f}", f"{top[0]['cause']}, {top[0]['location']}" if top else "",
    )  # fmt: skip
    return row, found


def _compared(row: Profiled, found: ProgramResult, folder: Path) -> Profiled:
    """A row with the time of all launches, each of which was executed, traced and simulated."""
    every = simulate_program(all_launches(folder, folder_traces(folder, [], in_order=True)), None, trials=_FULL_TRIALS)
    assert len(every) == int(row.launches)
    simulated = sum(float(one.kernel_time.mean) for one in every)
    bounds = [speed_of_light(one) for one in every]
    shares = [
        100 * one.milliseconds / float(result.kernel_time.mean)
        for one, result in zip(bounds, every, strict=True)
        if one is not None
    ]
    return replace(
        row, full_ms=f"{simulated:.6g}", error=f"{100 * (found.time.mean / simulated - 1):+.2f}",
        best_share=f"{max([float(row.best_share), *shares]):.0f}",
    )  # fmt: skip


def read(path: Path) -> dict[str, Profiled]:
    """The rows of a scoreboard, by program; none where it is missing."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["program"]: Profiled(**row) for row in csv.DictReader(file)}


def write(rows: Iterable[Profiled], path: Path) -> None:
    """Write a scoreboard."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Profiled)], lineterminator="\n")
        table.writeheader()
        table.writerows(map(asdict, rows))


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path, help="folder with the repositories, as owner+name")
    parser.add_argument("--python", type=Path, help="virtual environment of the tutorials")
    parser.add_argument("--list", type=Path, default=LIST, help="the programs")
    parser.add_argument("--only", default="", help="programs that have this in their name")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one program")
    parser.add_argument("--no-full", action="store_true", help="do not simulate every launch")
    parser.add_argument("--out", type=Path, default=SCOREBOARD)
    given = parser.parse_args()
    known = read(given.out)
    order = [f"{one.repository}/{one.main}" for one in listed(given.list)]
    for one, name in zip(listed(given.list), order, strict=True):
        if given.only in name:
            known[name] = profiled(one, given.checkouts.resolve(), given.python, given.limit, not given.no_full)
            write((known[key] for key in order if key in known), given.out)
            print(known[name], flush=True)
