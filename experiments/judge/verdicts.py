"""Judges candidates of four kernels whose verdicts are known, and writes ``verdicts.csv``.

    python -m experiments.judge.verdicts [--each 5] [--jobs 1] [--out FILE]

Exit status 1 if a verdict is wrong or a candidate exceeds its budget.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import median
from typing import Any

from experiments.judge.candidates import TASKS, VERDICTS, KernelTask
from memsim import api
from memsim.judge.sandbox import WALL

TABLE = Path(__file__).parent / "verdicts.csv"
GPU = "a100"
SECONDS = 5.0  # of processor time, the budget of a candidate
ALLOWED = 1.0  # seconds over its budget, until memsim sees that it is spent


@dataclass(frozen=True)
class VerdictRow:
    """Candidates of one kernel that should get one verdict.

    Attributes:
        kernel, verdict: of the candidates.
        candidates: their number.
        right: of these, those that got the verdict.
        over_budget: of these, those that used more processor or wall-clock time than they may.
        cpu_median, cpu_most: processor seconds of a candidate.
        predicted_us: median predicted time; "" where there is none.
    """

    kernel: str
    verdict: str
    candidates: int
    right: int
    over_budget: int
    cpu_median: float
    cpu_most: float
    predicted_us: str


@dataclass
class _Judged:
    right: int = 0
    over_budget: int = 0
    seconds: list[float] = field(default_factory=list)
    predicted: list[float] = field(default_factory=list)

    def add(self, document: dict[str, Any], verdict: str) -> None:
        budget = document["budget"]
        self.right += document["verdict"] == verdict
        self.over_budget += (
            budget["used_cpu_seconds"] > SECONDS + ALLOWED or budget["used_seconds"] > WALL * SECONDS + ALLOWED
        )
        self.seconds.append(budget["used_cpu_seconds"])
        if document["time_us"]:
            self.predicted.append(document["time_us"]["mean"])
        if document["verdict"] != verdict:
            print(f"{document['file']}: {document['verdict']} instead of {verdict}: {document['error']}")

    def row(self, kernel: str, verdict: str) -> VerdictRow:
        predicted = f"{median(self.predicted):.3g}" if self.predicted else ""
        seconds = round(median(self.seconds), 2), round(max(self.seconds), 2)
        return VerdictRow(kernel, verdict, len(self.seconds), self.right, self.over_budget, *seconds, predicted)


def judged(task: KernelTask, each: int, jobs: int) -> list[VerdictRow]:
    """Judge the candidates of one kernel: a row for each verdict."""
    found: defaultdict[str, _Judged] = defaultdict(_Judged)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "task.py").write_text(task.task)
        (folder / "candidates").mkdir()
        right = {}
        for name, text, verdict in task.candidates(each):
            (folder / "candidates" / f"{name}.cu").write_text(text)
            right[name] = verdict
        for document in api.judge(folder / "candidates", folder / "task.py", GPU, seconds=SECONDS, jobs=jobs):
            verdict = right.pop(Path(document["file"]).stem)
            found[verdict].add(document, verdict)
        assert not right, f"no document for {sorted(right)}"
    return [found[verdict].row(task.name, verdict) for verdict in VERDICTS]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=5, help="candidates per kernel and verdict")
    parser.add_argument("--jobs", type=int, default=1, help="candidates at a time")
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    rows, begun = list[VerdictRow](), time.monotonic()
    with given.out.open("w", newline="") as file:
        table = csv.DictWriter(file, [one.name for one in fields(VerdictRow)], lineterminator="\n")
        table.writeheader()
        for task in TASKS:
            for row in judged(task, given.each, given.jobs):
                rows.append(row)
                table.writerow(asdict(row))
                file.flush()
                print(row, flush=True)
    count, right = sum(one.candidates for one in rows), sum(one.right for one in rows)
    over, used = sum(one.over_budget for one in rows), sum(one.candidates * one.cpu_median for one in rows)
    print(f"{count} candidates: {right} right verdicts, {over} over budget, {time.monotonic() - begun:.0f} s;")
    print(f"processor time: {used:.0f} s (candidates times the median of their row)")
    return int(right < count or over > 0)


if __name__ == "__main__":
    sys.exit(main())
