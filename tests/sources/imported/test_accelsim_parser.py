"""Exported traces, read by the Accel-Sim framework's own parser, have the instructions and addresses of ours.

`ACCELSIM_ROOT` is the framework's own variable: its folder `gpu-simulator`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ptx_traces import accesses

import memsim
from memsim.sources.imported.accelsim import export_accelsim
from memsim.trace.reader import Trace
from memsim.trace.schema import Space

PARSER = Path(os.environ.get("ACCELSIM_ROOT", "absent")) / "trace-parser"
WORKLOADS = {
    "spmv": dict(rows=512, nnz_per_row=9),
    "transpose": dict(n=128),
    "reduction": dict(n=1 << 14),
    "histogram": dict(n=1 << 13),
}

pytestmark = pytest.mark.skipif(
    not PARSER.is_dir(), reason="ACCELSIM_ROOT names no gpu-simulator folder of the Accel-Sim framework"
)


def parsed(kernelslist: Path, folder: Path) -> dict[str, list[int]]:
    """Opcode -> instructions, active lanes, bytes, sum of addresses."""
    program = folder / "parse"
    sources = [Path(__file__).with_name("accelsim_parser.cc"), PARSER / "trace_parser.cc"]
    headers = [f"-include{name}" for name in ("array", "bitset", "fstream")]  # which the parser leaves to others
    subprocess.run(["g++", "-std=c++17", *headers, f"-I{PARSER}", *sources, "-o", program], check=True)
    text = subprocess.run([program, kernelslist], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("opcode ")]
    return {opcode: [int(each) for each in counts] for _, opcode, *counts in rows}


def counted(trace: Trace) -> list[int]:
    """Instructions, active lanes, bytes and sum of addresses of a trace's accesses to global memory."""
    rows = np.concatenate([chunk.op for chunk in trace.chunks()])
    ours = [op for op, one in enumerate(trace.ops) if one.space is Space.global_]
    lanes = {op: [address for _, _, address in found] for op, found in accesses(trace).items() if op in ours}
    return [
        int(np.isin(rows, ours).sum()),
        sum(map(len, lanes.values())),
        sum(len(found) * trace.ops[op].width for op, found in lanes.items()),
        sum(map(sum, lanes.values())),
    ]


@pytest.mark.parametrize("name", WORKLOADS)
def test_accelsim_parses_exported_trace(tmp_path, name):
    trace = memsim.trace(name, out=tmp_path / "t.h5", **WORKLOADS[name])
    export_accelsim([trace], tmp_path)
    theirs = parsed(tmp_path / "kernelslist.g", tmp_path)
    global_ = [counts for opcode, counts in theirs.items() if opcode.startswith(("LDG", "STG", "ATOMG", "RED"))]
    assert [sum(column) for column in zip(*global_, strict=True)] == counted(trace)
