"""The fixed cost of a launch on an H100 is what its counters show, also in programs that it was not taken from."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

import pytest

from memsim.gpu.presets import load_gpu

H100 = Path(__file__).parents[2] / "experiments" / "silicon" / "h100"


@pytest.mark.parametrize("table", ["mechanisms", "programs"])
def test_idle_cycles_are_those_counted(table: str) -> None:
    """Elapsed less active cycles of short launches, whose blocks end at about the same time."""
    with (H100 / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["sm_cycles"] and float(row["sm_cycles"]) < 20_000]
    idle = median(float(row["sm_cycles"]) - float(row["active_cycles"]) for row in rows)
    assert load_gpu("h100").launch.idle_cycles == pytest.approx(idle, rel=0.03)


def test_empty_kernels_fit_the_launch_cost() -> None:
    """An empty block per SM takes the whole cost of a launch and no more than a tenth less."""
    with (H100 / "mechanisms.csv").open(encoding="utf-8", newline="") as lines:
        empty = [
            float(row["sm_cycles"]) for row in csv.DictReader(lines) if row["name"] == "empty" and row["a"] == "132"
        ]
    launch = load_gpu("h100").launch
    assert len(empty) == 3
    assert launch.idle_cycles + launch.active_cycles == pytest.approx(median(empty), rel=0.1)
