"""Profiles each program of the list, and compares with a simulation of all its launches.

    python -m experiments.whole_programs CHECKOUTS --python VENV [--only TEXT] [--limit SECONDS] [--no-full]

VENV is a virtual environment with Triton and the CPU build of torch, which the tutorials run in.
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
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from experiments.capture.programs import PublicProgram, listed
from experiments.capture.trying import cpu_seconds
from experiments.whole_programs.choosing import HERE, LIST
from memsim.analysis.program import ProgramResult
from memsim.analysis.speed_of_light import speed_of_light
from memsim.api import simulate_program
from memsim.cli.run_folder import folder_traces

SCOREBOARD = HERE / "scoreboard.csv"
MOST_LAUNCHES = 50  # of programs of which every launch is simulated, for comparison
_FULL_TRIALS = 8


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


def command(one: PublicProgram, checkouts: Path, out: Path) -> tuple[list[str], Path]:
    """What a user would type, and the folder to type it in."""
    options = ["-o", str(out / "p.h5"), "--traces", str(out / "traces"), *one.include_options(checkouts)]
    files, arguments = one.files(checkouts), shlex.split(one.arguments)
    words = [*files, "--", *arguments] if arguments else files
    return [sys.executable, "-m", "memsim", "profile", *options, *words], one.folder(checkouts)


def profiled(one: PublicProgram, checkouts: Path, python: Path | None, limit: float, full: bool) -> Profiled:
    """Profile one program."""
    name = f"{one.repository}/{one.main}"
    environment = os.environ | {"MEMSIM_CACHE_MB": "0", "MPLBACKEND": "Agg", "PYTHONPATH": str(HERE.parents[1])}
    if python is not None:
        environment["MEMSIM_PYTHON"] = str(python / "bin" / "python")
    with tempfile.TemporaryDirectory() as folder:
        words, place = command(one, checkouts, Path(folder))
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
        return _row(name, seconds, Path(folder), full)


def _row(name: str, seconds: tuple[str, str], folder: Path, full: bool) -> Profiled:
    found = ProgramResult.load(folder / "p.h5")
    interval = found.time.interval()
    launches = sum(group.launches for group in found.groups)
    shares = [group.best_possible / group.time.mean for group in found.groups]
    total = error = ""
    if full and launches <= MOST_LAUNCHES:
        every = simulate_program(folder_traces(folder / "traces", [], in_order=True), None, trials=_FULL_TRIALS)
        simulated = sum(float(one.kernel_time.mean) for one in every)
        total, error = f"{simulated:.6g}", f"{100 * (found.time.mean / simulated - 1):+.2f}"
        bounds = [speed_of_light(one) for one in every]
        shares += [
            one.milliseconds / float(result.kernel_time.mean)
            for one, result in zip(bounds, every, strict=True)
            if one is not None
        ]
    top = [one for one in found.about["findings"] if one["kernel"] == found.labels()[0]]
    return Profiled(
        name, *seconds, str(launches), str(len(found.groups)), f"{found.time.mean:.6g}",
        "" if interval is None else f"{50 * interval.width / found.time.mean:.2f}", total, error,
        f"{100 * max(shares):.0f}", f"{top[0]['cause']}, {top[0]['place']}" if top else "",
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
    parser.add_argument("--only", default="", help="programs that have this in their name")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one program")
    parser.add_argument("--no-full", action="store_true", help="do not simulate every launch")
    parser.add_argument("--out", type=Path, default=SCOREBOARD)
    given = parser.parse_args()
    known = read(given.out)
    order = [f"{one.repository}/{one.main}" for one in listed(LIST)]
    for one, name in zip(listed(LIST), order, strict=True):
        if given.only in name:
            known[name] = profiled(one, given.checkouts.resolve(), given.python, given.limit, not given.no_full)
            write((known[key] for key in order if key in known), given.out)
            print(known[name], flush=True)
