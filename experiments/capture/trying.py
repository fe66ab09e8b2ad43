"""Tries each program of the list with ``memsim capture``, and keeps what came of it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from experiments.capture.programs import REPOSITORIES, Repository

COLUMNS = ("repository", "commit", "program", "result", "seconds", "told")


def try_all(checkouts: Path, limit: float, out: Path) -> None:
    """Write a row for each program of the repositories that are there.

    Args:
        checkouts: folder with each repository as ``owner+name``, at the list's commit.
        limit: seconds for one program.
        out: the table to write.
    """
    with out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for repository in REPOSITORIES:
            for row in _tried(repository, checkouts / repository.name.replace("/", "+"), limit):
                table.writerow(row)
                file.flush()


def _tried(repository: Repository, checkout: Path, limit: float) -> Iterator[tuple[str, ...]]:
    for path in repository.mains(checkout):
        begin = monotonic()
        result, told = _captured(repository, checkout, path, limit)
        name = path.relative_to(checkout).as_posix()
        seconds = f"{monotonic() - begin:.0f}"
        yield repository.name, repository.commit[:7], name, result, seconds, told.replace(f"{checkout}/", "")


def _captured(repository: Repository, checkout: Path, path: Path, limit: float) -> tuple[str, str]:
    """What came of one program, and the line that says why."""
    includes = [part for folder in repository.includes for part in ("-I", str(checkout / folder))]
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "memsim",
            "capture",
            str(path),
            *(str(checkout / one) for one in repository.sources),
        ]
        command += [*includes, *repository.options, "-o", f"{folder}/t.h5", "-q", "--stop", "--registers", "32"]
        command += ["--", *repository.arguments]
        try:
            done = subprocess.run(
                command, cwd=path.parent, capture_output=True, text=True, errors="replace", timeout=limit
            )
        except subprocess.TimeoutExpired:
            return "time", f"more than {limit:g} s"
    lines = [line for line in done.stderr.splitlines() if line.startswith("memsim: ")]
    return ("captured", "") if done.returncode == 0 else ("refused", lines[-1] if lines else done.stderr[-200:])
