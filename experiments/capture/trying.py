"""Tries each program of the list with ``memsim capture``, and keeps what came of it."""

from __future__ import annotations

import csv
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.capture.programs import PublicProgram

_PATIENCE = 6  # of wall clock, in limits: the machine may have other work
_UNKNOWN = "which memsim does not have"  # a function of a library
_RAN = re.compile(r"^memsim: .*\brun (ended|failed|was ended)", re.MULTILINE)
_FAILED = re.compile(r"fail|mismatch|incorrect|wrong|not match|do not agree|not ok\b|error:", re.IGNORECASE)
# A figure of merit: "Max error: 2e-5", "RMS error: 0.1"
_DEVIATION = re.compile(r"\b(max\w*|mean|average|avg|rms|rel\w*|abs\w*)\.? (\w+ )?error:\s*[\d.]", re.IGNORECASE)
_PASSED = re.compile(r"pass|success|correct|match|\bok\b|verified", re.IGNORECASE)


@dataclass(frozen=True)
class Tried:
    """What came of one program.

    Attributes:
        repository: as in the list.
        main: as in the list.
        arguments: as in the list.
        needs: as in the list.
        result: ``captured``, ``refused``, or ``time``.
        by: what was traced: ``ptx``, or, of rows from before memsim ran PTX alone, ``source``; "" of no trace.
        seconds: of a processor that it took, up to the end of the trace.
        message: memsim's line, if it was refused.
        check: of a run to the end: what the program says of its results, ``passed`` or ``failed``; ``ended`` where it
            says nothing, ``time``, ``refused`` where its source cannot be traced (``asm``) or it calls what is not
            there, or "" where that was not tried.
        tried: the day of this result, as 2026-11-26; "" of results by memsim's earlier version, which had its own
            imitation of CUDA's headers.
    """

    repository: str
    main: str
    arguments: str
    needs: str
    result: str
    by: str = ""
    seconds: str = ""
    message: str = ""
    check: str = ""
    tried: str = ""

    @property
    def program(self) -> tuple[str, str, str]:
        """Which program it is of."""
        return self.repository, self.main, self.arguments


def read(table: Path) -> dict[tuple[str, str, str], Tried]:
    """What a table knows already."""
    if not table.exists():
        return {}
    with table.open(newline="") as file:
        return {row.program: row for row in (Tried(**one) for one in csv.DictReader(file))}


def write(rows: Iterable[Tried], table: Path) -> None:
    """Write a table."""
    names = [field.name for field in fields(Tried)]
    with table.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows([getattr(row, name) for name in names] for row in rows)


def tried(program: PublicProgram, checkouts: Path, limit: float) -> Tried:
    """Capture a program, unchanged, up to the end of its trace.

    Args:
        program: of the list.
        checkouts: folder with each repository as ``owner+name``, at the list's commit.
        limit: seconds of a processor for each of its processes.
    """
    begin = cpu_seconds()
    done = _run(program, checkouts, limit, [])
    row = Tried(
        program.repository, program.main, program.arguments, program.needs, "time", seconds=f"{limit:g}",
        tried=f"{date.today()}",
    )  # fmt: skip
    if done is None:
        return row
    lines = [line for line in done.stderr.splitlines() if line.startswith("memsim: ")]
    row = replace(row, seconds=f"{cpu_seconds() - begin:.0f}")
    if done.returncode == 0:
        return replace(row, result="captured", by="ptx")
    if _out_of_time(done):
        return row
    message = lines[-1] if lines else done.stderr[-200:]
    return replace(row, result="refused", message=message.replace(f"{checkouts}/", ""))


def checked(program: PublicProgram, row: Tried, checkouts: Path, limit: float) -> Tried:
    """Run a program that was captured to its end, and keep what it says of its results."""
    done = _run(program, checkouts, limit, ["--to-end"])
    if done is None or _out_of_time(done):
        return replace(row, check="time")
    if done.returncode and (_UNKNOWN in done.stderr or not _RAN.search(done.stderr)):
        return replace(row, check="refused")
    return replace(row, check="failed" if done.returncode else verdict(done.stdout))


def verdict(printed: str) -> str:
    """What a program that ended well says of its results: ``passed``, ``failed``, or nothing, ``ended``.

    >>> [verdict(text) for text in ("Max error: 2.8e-05", "ERROR: 37 differences found", "Test passed. RMS error: 0")]
    ['ended', 'failed', 'passed']
    """
    if _FAILED.search(_DEVIATION.sub("", printed)):
        return "failed"
    return "passed" if _PASSED.search(printed) else "ended"


def _out_of_time(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the limit ended memsim, or the program that it ran."""
    return done.returncode < 0 or "SIGXCPU" in done.stderr or "SIGKILL" in done.stderr


def cpu_seconds() -> float:
    """Processor time of the programs that were run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(
    program: PublicProgram, checkouts: Path, limit: float, options: list[str]
) -> subprocess.CompletedProcess[str] | None:
    """``memsim capture`` of a program; None if it takes much longer; each of its processes ends after the limit."""
    seconds = int(limit)
    files, includes = program.files(checkouts), program.include_options(checkouts)
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "memsim", "capture", *files, *includes, *options, "-q"]
        command += ["-o", f"{folder}/t.h5", "--", *shlex.split(program.arguments)]
        try:
            return subprocess.run(
                command, cwd=program.folder(checkouts), capture_output=True, text=True, errors="replace",
                timeout=_PATIENCE * limit,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
