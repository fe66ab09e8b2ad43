"""Times of public programs that were not used in development."""

from __future__ import annotations

import csv

import pytest

from experiments.fresh_times.compare import TABLE, gpu, read, rows, table


def test_predictions_are_of_the_list():
    listed = {(row["row"], row["gpu"]): float(row["microseconds"]) for row in rows()}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            measured = listed[line["row"], line["gpu"]]
            assert float(line["percent"]) == pytest.approx(100 * (float(line["memsim"]) / measured - 1), abs=0.06)
    assert set(read()) <= set(listed)


def test_errors_are_listed_by_gpu():
    row, other = [row for row in rows() if row["gpu"] == "a100-40"][:2]
    found = {(one["row"], "a100-40"): float(one["microseconds"]) * 1.5 for one in (row, other)}
    found[row["row"], "a100-40"] = float(row["microseconds"]) * 0.9
    assert "| a100-40 | 2 | 30 | 30 |" in table(found)


def test_smaller_a100_has_slower_memory():
    assert gpu("a100-40").dram.clock_mhz == 1215 < gpu("a100").dram.clock_mhz
