"""Which figures are worse than allowed, and which line is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.gate.baseline import Allowed
from memsim.gate.figures import AccessFigures, KernelFigures, MeasuredKernel
from memsim.gate.regressions import regressions
from memsim.gpu.occupancy import Occupancy
from memsim.report.check import github_annotations

LOAD = AccessFigures("k.cu", 4, "x = a[i];", "load", "global", "a", 100, 400, 0, 0, 12800, 0.7)
STORE = AccessFigures("k.cu", 5, "b[i] = x;", "store", "global", "b", 100, 400, 0, 0, 12800, 0.0)
SHARED = AccessFigures("k.cu", 6, "s[j]", "load", "shared", "s", 100, 0, 100, 0, 0, 0.3)
KERNEL = KernelFigures("k", "a100", 1, 2.0, 4.0, 0.0, 25600.0, 1.0, 1000.0, 32, 1024, "", (LOAD, STORE, SHARED))
HELD = Occupancy({"warps": 8, "registers": 4}, 8, 64)


def worse(**changed):
    now = MeasuredKernel(replace(KERNEL, **changed), "k.cu", 1, HELD, {("k.cu", 4): ("scattered lanes", "pack, them")})
    return {one.figure: one for one in regressions(KERNEL, now, Allowed())}


def test_nothing_is_worse_within_what_is_allowed():
    assert not worse()
    assert not worse(time_us=2.09, sectors_per_request=4.07, dram_bytes=26000.0, bank_conflicts=0.04, occupancy=0.99)
    assert not worse(time_us=1.0, sectors_per_request=1.0, dram_bytes=0.0)


@pytest.mark.parametrize("moved", [0, 7])
def test_line_whose_work_grew_is_named(moved):
    load = replace(LOAD, line=4 + moved, sectors=3200)
    found = worse(time_us=3.0, sectors_per_request=18.0, accesses=(load, replace(STORE, line=5 + moved), SHARED))
    assert {name: one.line for name, one in found.items()} == {"time": 4 + moved, "sectors_per_request": 4 + moved}
    assert "32 sectors per request, baseline 4" in found["sectors_per_request"].reason


def test_an_access_that_is_new_is_named():
    new = replace(LOAD, line=9, code="y = c[i];", array="c")
    found = worse(time_us=3.0, dram_bytes=38400.0, accesses=(LOAD, STORE, SHARED, new))
    assert {one.line for one in found.values()} == {9} and set(found) == {"time", "dram_bytes"}


def test_lost_occupancy_belongs_to_the_kernel():
    lost = worse(time_us=3.0, occupancy=0.5, registers=64)
    assert lost["time"].line == lost["occupancy"].line == 1
    assert "registers per thread 32 → 64; 4 blocks per SM, limited by registers" in lost["occupancy"].reason
    more = worse(time_us=3.0, instructions=2000.0)["time"]
    assert (more.line, more.reason) == (1, "warp instructions 1,000 → 2,000")


def test_conflicts_belong_to_shared_memory():
    found = worse(bank_conflicts=3.0, accesses=(LOAD, STORE, replace(SHARED, passes=400, conflicts=300)))
    assert found["bank_conflicts"].line == 6
    assert (
        worse(time_us=3.0, accesses=(replace(LOAD, waiting=0.9), STORE, replace(SHARED, waiting=0.1)))["time"].line == 4
    )


def test_annotations_are_escaped_as_github_asks(tmp_path, monkeypatch):
    """docs.github.com, workflow commands: percent in data; colons and commas in properties as well."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "a,b"
    folder.mkdir()
    (folder / "k.cu").touch()
    (one,) = worse(sectors_per_request=8.0, accesses=(replace(LOAD, sectors=800), STORE, SHARED)).values()
    (line,) = github_annotations([replace(one, file="a,b/k.cu", kernel="n::k")], tmp_path)
    head, _, text = line.removeprefix("::error ").partition("::")
    assert head == "file=a%2Cb/k.cu,line=4,title=n%3A%3Ak on a100 uses the memory worse"
    assert "%25, allowed" in text and "% " not in text and text.endswith("Scattered lanes: pack, them")
