"""Carve-outs that the driver of an H100 chose, as its profiler reports them."""

import csv
from math import prod
from pathlib import Path

import pytest

from memsim.gpu.carve_out import carved
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu, override

MEASURED = Path(__file__).parents[2] / "experiments" / "silicon" / "h100"


def chosen(row: dict[str, str], **settings) -> int:
    gpu = override(load_gpu("h100"), settings)
    shared = int(float(row["shared_static"])) + int(float(row["shared_dynamic"]))
    threads = prod(int(n) for n in row["block"].split("x"))
    return carved(gpu, occupancy(gpu, threads, int(float(row["registers"])), shared)).l1.reserved_bytes


def launches(table: str) -> dict[str, dict[str, str]]:
    """A row of each block, use of registers and shared memory, and carve-out."""
    names = ("block", "registers", "shared_static", "shared_dynamic", "shared_of_sm")
    with open(MEASURED / f"{table}.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["shared_of_sm"]]
    return {"/".join(row[name] for name in names): row for row in rows}


@pytest.mark.parametrize(
    ("table", "wrong"),
    [("mechanisms", 0), ("programs", 0), ("own_programs", 0), ("sgemm", 0), ("triton_counters", 1)],
)
def test_carve_outs_are_the_drivers(table, wrong):
    """The rule was found in a group of `mechanisms`. One Triton kernel with 16 bytes gets room for one block less."""
    rows = launches(table).values()
    assert len(rows) >= 3
    assert sum(chosen(row) != float(row["shared_of_sm"]) for row in rows) == wrong


def test_least_carve_outs_are_smaller():
    rows = launches("programs").values()
    off = {"l1.spare_carve_out_bytes": None}
    least = [chosen(row, **off) - float(row["shared_of_sm"]) for row in rows]
    assert max(least) <= 0 and sum(size < 0 for size in least) > len(least) / 2
