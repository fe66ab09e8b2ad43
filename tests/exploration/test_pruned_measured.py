"""The study of pruning next to measured times: how ranks are counted, and that its two tables agree."""

from __future__ import annotations

import csv
from math import inf

import pytest

from experiments.pruning.measured import RANKS, TABLE, Compared, measured_times, ranks, write


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_ranks_count_pairs_and_the_loss():
    rows = [Compared("a", name, *times) for name, times in {"x": (3.0, 1.0), "y": (2.0, 2.0), "z": (4.0, 3.0)}.items()]
    found = ranks([*rows, Compared("a", "w", inf, inf)], 0.0, keep=1)
    assert (found.configs, found.best_rank, found.loss) == (3, 2, 50.0)
    assert found.kendall == pytest.approx(1 / 3, abs=0.01)  # two pairs of three in order
    assert ranks(rows, 0.0, keep=2).loss == 0


@pytest.mark.parametrize("row", table(RANKS), ids=lambda one: one["case"])
def test_recorded_ranks_follow_from_recorded_times(row):
    known = measured_times()
    rows = [
        Compared(one["case"], one["config"], float(one["measured"]), float(one["predicted"]))
        for one in table(TABLE)
        if one["case"] == row["case"]
    ]
    assert all(known[one.case, one.config] == one.measured for one in rows)
    assert [one.predicted for one in rows] == sorted(one.predicted for one in rows)
    found = vars(ranks(rows, float(row["cpu_seconds"])))
    assert {name: str(value) for name, value in found.items()} == row


def test_other_cases_stay_in_the_table(tmp_path):
    path = tmp_path / "t.csv"
    write(path, [Compared("a", "x", 1.0, 2.0)])
    write(path, [Compared("b", "x", 3.0, 4.0)])
    write(path, [Compared("a", "x", 5.0, 6.0)])
    assert [(one["case"], one["measured"]) for one in table(path)] == [("b", "3.0"), ("a", "5.0")]
