"""Checks a program that does not change again and again, and writes ``repeats.csv``: does it ever report something?

    python -m experiments.check.repeat [--times 100] [--out FILE]

Every check is a new process with another seed for Python's hashes, with one job or two in turn, and keeps no result.
Exit status 1 if one reports something, or if two print different texts.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
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
GPUS = ("a100",)


@dataclass(frozen=True)
class RepeatedCheck:
    """One check.

    Attributes:
        hash_seed: Python's.
        jobs: processes.
        status: exit status; 0: nothing is worse.
        output: the first digits of the SHA-256 of what was printed.
        cpu_seconds: of the process and its children.
    """

    hash_seed: int
    jobs: int
    status: int
    output: str
    cpu_seconds: float


def memsim(folder: str, *command: str, seed: int) -> subprocess.CompletedProcess[str]:
    """Run a command of memsim in a folder."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed), "MEMSIM_CACHE_MB": "0", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "memsim", *command], cwd=folder, env=environment, capture_output=True, text=True
    )


def check(folder: str, seed: int) -> RepeatedCheck:
    """Check the program once."""
    before, jobs = os.times(), 1 + seed % 2
    done = memsim(folder, "check", "-j", str(jobs), seed=seed)
    used = os.times()
    seconds = used.children_user + used.children_system - before.children_user - before.children_system
    printed = hashlib.sha256(done.stdout.encode()).hexdigest()[:12]
    return RepeatedCheck(seed, jobs, done.returncode, printed, round(seconds, 1))


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, given.out.open("w", newline="") as file:
        shutil.copy(PROGRAM, folder)
        gpus = [word for gpu in GPUS for word in ("--gpu", gpu)]
        memsim(folder, "check", "--update", PROGRAM.name, *gpus, seed=0).check_returncode()
        table = csv.DictWriter(file, [one.name for one in fields(RepeatedCheck)], lineterminator="\n")
        table.writeheader()
        for seed in range(given.times):
            rows.append(check(folder, seed))
            table.writerow(asdict(rows[-1]))
            file.flush()
    alarms, outputs = sum(one.status != 0 for one in rows), len({one.output for one in rows})
    print(f"{len(rows)} checks: {alarms} false alarms, {outputs} different outputs,", end=" ")
    print(f"{sum(one.cpu_seconds for one in rows):.0f} s of processor time")
    return int(alarms > 0 or outputs > 1)


if __name__ == "__main__":
    sys.exit(main())
