"""Checks a program that does not change again and again, and writes ``repeats.csv``: does it ever report something?

    python -m experiments.check.repeat [--processes 20] [--out FILE]

Every process has another seed for Python's hashes and makes five checks, with one job and two in turn. It keeps no
result. Exit status 1 if a check reports something, or if two find different figures.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "data" / "check" / "kernels.cu"
TABLE = Path(__file__).parent / "repeats.csv"
GPU = "a100"
BASELINE = "memsim-baseline.toml"
CHECKS = 5  # per process


@dataclass(frozen=True)
class RepeatedCheck:
    """One check.

    Attributes:
        hash_seed: Python's, of the check's process.
        number: of the check in its process.
        jobs: processes that replay.
        passed: whether nothing is worse.
        figures: the first digits of the SHA-256 of all figures of all kernels.
    """

    hash_seed: int
    number: int
    jobs: int
    passed: bool
    figures: str


def checks(hash_seed: int) -> list[RepeatedCheck]:
    """The checks of this process, in the folder with the baseline."""
    import memsim

    found = []
    for number in range(CHECKS):
        jobs = 1 + number % 2
        outcome = memsim.check(BASELINE, jobs=jobs)
        figures = hashlib.sha256(repr(outcome.kernels).encode()).hexdigest()[:12]
        found.append(RepeatedCheck(hash_seed, number, jobs, outcome.passed and not outcome.notes, figures))
    return found


def _in_process(folder: str, seed: int, *words: str) -> str:
    """The output of Python in a folder; the reason on standard error is shown."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed), "MEMSIM_CACHE_MB": "0", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.seed is not None:
        print(json.dumps([asdict(one) for one in checks(given.seed)]))
        return 0
    rows: list[RepeatedCheck] = []
    with tempfile.TemporaryDirectory() as folder, given.out.open("w", newline="") as file:
        shutil.copy(PROGRAM, folder)
        _in_process(folder, 0, "memsim", "check", "--update", PROGRAM.name, "--gpu", GPU)
        table = csv.DictWriter(file, [one.name for one in fields(RepeatedCheck)], lineterminator="\n")
        table.writeheader()
        for seed in range(given.processes):
            printed = _in_process(folder, seed, "experiments.check.repeat", "--seed", str(seed))
            added = [RepeatedCheck(**one) for one in json.loads(printed.splitlines()[-1])]
            table.writerows(map(asdict, added))
            file.flush()
            rows += added
    alarms, different, used = sum(not one.passed for one in rows), len({one.figures for one in rows}), os.times()
    print(f"{len(rows)} checks: {alarms} false alarms, {different} different sets of figures,", end=" ")
    print(f"{used.children_user + used.children_system:.0f} s of processor time")
    return int(alarms > 0 or different > 1)


if __name__ == "__main__":
    sys.exit(main())
