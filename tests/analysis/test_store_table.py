"""Stores and reductions, compared with counts by hand and the totals of all ops."""

from __future__ import annotations

import pytest

import memsim
from memsim.report.result_json import document
from memsim.report.text import tables


def _result(name, **parameters):
    return memsim.simulate(memsim.trace(name, blocks="all", **parameters), gpu="tesla-v100", trials=2, seed=1)


@pytest.mark.slow
def test_strided_store_is_partial_in_its_lanes_sectors():
    result = _result("transpose", n=64, variant="naive")
    (only,) = result.stores
    assert (only.kind, only.array, only.instructions, only.sectors) == ("store", "b", 64 * 2, 64 * 64)
    assert only.partial == 1.0
    assert only.dram_sectors == result.counters["dram"]["sectors"]["writes"]
    assert document(result)["stores"][0]["sectors"] == 4096
    assert "store b[column, row + k]" in tables(result)


def test_reductions_are_stores_and_returning_atomics_are_loads():
    result = _result("histogram", n=1 << 10, bins=8, grid=2)
    (only,) = result.stores
    assert only.kind == "reduction" and only.sectors == pytest.approx(result.counters["l1"]["sectors"]["atomics"])
    assert only not in list(result.loads)


def test_what_stays_in_the_sm_is_no_row():
    assert {store.array for store in _result("transpose", n=64, variant="tiled").stores} == {"b"}
