"""A trace that leaves as NVBit's mem_trace text and is imported again accesses the same addresses.

In shared memory a lane at address 0 and one that is off look alike in the text.
"""

from __future__ import annotations

import pytest
from nvbit_text import A, line
from ptx_traces import accesses

import memsim
from memsim.sources.imported.nvbit import export_nvbit, import_nvbit
from memsim.trace.schema import Space

WORKLOADS = {
    "spmv": dict(rows=512, nnz_per_row=9),
    "transpose": dict(n=128),
    "reduction": dict(n=1 << 12),
    "histogram": dict(n=1 << 13),
}


def addresses_by_kind(trace) -> dict:
    """Kind and width of accesses to global memory -> warp, lane and address of each."""
    found: dict = {}
    for op, lanes in accesses(trace).items():
        one = trace.ops[op]
        if one.space is Space.global_:
            found.setdefault((one.kind, one.width), []).extend(lanes)
    return {kind: sorted(lanes) for kind, lanes in found.items()}


@pytest.mark.parametrize("name", WORKLOADS)
def test_export_has_accesses_of_the_trace(tmp_path, name):
    trace = memsim.trace(name, out=tmp_path / "t.h5", **WORKLOADS[name])
    export_nvbit([trace], tmp_path / "log")
    (back,) = import_nvbit(tmp_path / "log", tmp_path)
    assert back.launch.grid == trace.launch.grid and back.launch.block == trace.launch.block
    assert addresses_by_kind(back) == addresses_by_kind(trace)


def test_launches_are_numbered_in_order(tmp_path):
    traces = [memsim.trace("spmv", out=tmp_path / f"{n}.h5", rows=64, nnz_per_row=n) for n in (2, 3)]
    export_nvbit(traces, tmp_path / "log")
    text = (tmp_path / "log").read_text()
    assert [f"grid launch id {number} " in text for number in range(3)] == [True, True, False]
    of_tool = line([A]).split(" - ")  # what the tool itself prints
    ours = next(one for one in text.splitlines(keepends=True) if "CTA" in one).split(" - ")
    assert [len(part.split()) for part in ours] == [len(part.split()) for part in of_tool]
